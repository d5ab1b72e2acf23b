package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.FirstAnswer;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.CoordinatorWithoutAdoptions;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.Introduction;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.ReplicationGrpc;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a node alone does about indexes that are created. */
@Timeout(60)
final class ClusterNodeTest {
  /** Steps of an idle node's thread in 300 ms: 3 are expected, 60 if it wakes every 5 ms. */
  private static final int IDLE_STEPS = 15;

  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final Counted coordinator = new Counted(truth.connect());
  private final Indexes indexes = Indexes.unrecovered(IndexMemory.ofProcess(64L << 20));
  private final ClusterNode node = new ClusterNode(indexes, coordinator, 1, "boot", null);

  @AfterEach
  void end() {
    node.close();
    indexes.close();
  }

  /** A coordinator that counts requests, and the steps of the node's thread. */
  private static final class Counted implements CoordinatorWithoutAdoptions {
    private final Coordinator of;
    private final AtomicInteger creations = new AtomicInteger();
    private final AtomicInteger syncs = new AtomicInteger();
    private final AtomicInteger polls = new AtomicInteger(); // one in each step
    private volatile boolean answersSyncs = true;

    Counted(Coordinator of) {
      this.of = of;
    }

    @Override
    public void announce(Node self, Admission admission) {
      of.announce(self, admission);
    }

    @Override
    public void withdraw() {
      of.withdraw();
    }

    @Override
    public void create(GroupState first, Answer answer) {
      creations.incrementAndGet();
      of.create(first, answer);
    }

    @Override
    public void win(GroupState seen, Configuration proposed, Answer answer) {
      of.win(seen, proposed, answer);
    }

    @Override
    public void establish(GroupState seen, Answer answer) {
      of.establish(seen, answer);
    }

    @Override
    public void recover(GroupState seen, GroupState recovered, Answer answer) {
      of.recover(seen, recovered, answer);
    }

    @Override
    public void drop(GroupState seen, Answer answer) {
      of.drop(seen, answer);
    }

    @Override
    public void replace(GroupState seen, GroupState first, Answer answer) {
      of.replace(seen, first, answer);
    }

    @Override
    public void sync(Answer answer) {
      syncs.incrementAndGet();
      if (answersSyncs) {
        of.sync(answer);
      }
    }

    @Override
    public int poll(Listener listener) {
      polls.incrementAndGet();
      return of.poll(listener);
    }

    @Override
    public void wakeUp(Runnable wakeUp) {
      of.wakeUp(wakeUp);
    }

    @Override
    public void close() {
      of.close();
    }
  }

  private void start() throws Exception {
    indexes.recoverAndServe();
    final CompletableFuture<Void> reached = new CompletableFuture<>();
    node.start("localhost:1", () -> reached.complete(null), other -> {});
    reached.get(20, TimeUnit.SECONDS);
  }

  /** Creates an index; gives the failure, or null. */
  private StatusException create(String name) throws Exception {
    return create(name, 0);
  }

  private StatusException create(String name, int replicas) throws Exception {
    final CompletableFuture<StatusException> ended = new CompletableFuture<>();
    node.catalog()
        .create(
            CreateIndexRequest.newBuilder().setIndex(name).setReplicas(replicas).build(),
            (incarnation, done, failure) -> ended.complete(failure));
    return ended.get(20, TimeUnit.SECONDS);
  }

  @Test
  void theThreadOfAnIdleNodeRests() throws Exception {
    start();
    assertNull(create("idle"));
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    int steps;
    do {
      final int before = coordinator.polls.get();
      Thread.sleep(300);
      steps = coordinator.polls.get() - before;
    } while (steps > IDLE_STEPS && System.nanoTime() - endNs < 0);
    assertTrue(steps <= IDLE_STEPS, "steps=" + steps);
  }

  /** Else clients read on what an earlier process on its directory has left. */
  @Test
  void theEndOfANodeAnswersTheDropsAndRecoveriesThatShareACatchUp() throws Exception {
    start();
    coordinator.answersSyncs = false;
    final List<CompletableFuture<StatusException>> ended = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      final CompletableFuture<StatusException> dropped = new CompletableFuture<>();
      node.catalog().drop("absent", 0, (incarnation, done, failure) -> dropped.complete(failure));
      ended.add(dropped);
      final CompletableFuture<StatusException> recovered = new CompletableFuture<>();
      node.catalog()
          .recover(
              RecoverIndexRequest.newBuilder().setIndex("absent").build(),
              (response, failure) -> recovered.complete(failure));
      ended.add(recovered);
    }
    node.close();
    for (final CompletableFuture<StatusException> each : ended) {
      assertEquals(Status.Code.UNAVAILABLE, each.get(30, TimeUnit.SECONDS).getStatus().getCode());
    }
    assertTrue(coordinator.syncs.get() <= 1, "syncs=" + coordinator.syncs); // the others waited
  }

  @Test
  void aNodeThatEndsBeforeItsStartAnswersCallsThatWait() throws Exception {
    final CompletableFuture<StatusException> ended = new CompletableFuture<>();
    node.catalog().sync(ended::complete);
    node.close();
    assertEquals(Status.Code.UNAVAILABLE, ended.get(30, TimeUnit.SECONDS).getStatus().getCode());
  }

  @Test
  void aNodeTakesNoPartBeforeItsIndexesServe() throws Exception {
    assertThrows(
        IllegalStateException.class, () -> node.start("localhost:1", () -> {}, other -> {}));
    start();
  }

  @Test
  void writesToAnAbsentIndexShareOneCreation() throws Exception {
    start();
    final IndexService service = new IndexService(indexes);
    final List<FirstAnswer<PutResponse>> answers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      answers.add(new FirstAnswer<>());
      service.put(
          PutRequest.newBuilder().setIndex("a").setKey(ByteString.copyFromUtf8("" + i)).build(),
          answers.get(i));
    }
    for (final FirstAnswer<PutResponse> answer : answers) {
      assertTrue(answer.get(20, TimeUnit.SECONDS).getCreated());
    }
    assertEquals(1, coordinator.creations.get());
  }

  @Test
  void anIndexHasTheReplicasThatItsCreationNames() throws Exception {
    start();
    assertNull(create("of the server", 0));
    assertNull(create("of the request", 2));
    assertEquals(
        Map.of("of the server", 1, "of the request", 2),
        node.catalog().describe().getGroupsList().stream()
            .collect(Collectors.toMap(GroupDescription::getIndex, GroupDescription::getReplicas)));
  }

  /**
   * Introduces a node as a leader to this one; gives how the stream ends, or null if it goes on.
   */
  private Status.Code introduce(Node self, Node leader) throws Exception {
    final CompletableFuture<Status.Code> answered = new CompletableFuture<>();
    final StreamObserver<LeaderMessage> stream =
        ((ReplicationGrpc.AsyncService) node.services().get(0))
            .replicate(
                new StreamObserver<>() {
                  @Override
                  public void onNext(MemberMessage message) {
                    answered.complete(null);
                  }

                  @Override
                  public void onError(Throwable failure) {
                    answered.complete(Status.fromThrowable(failure).getCode());
                  }

                  @Override
                  public void onCompleted() {}
                });
    stream.onNext(
        LeaderMessage.newBuilder()
            .setIntroduction(
                Introduction.newBuilder()
                    .setLeader(leader)
                    .setNode(self.getId())
                    .setIncarnation(self.getIncarnation()))
            .build());
    return answered.get(20, TimeUnit.SECONDS);
  }

  @Test
  void aCallerThatIsNoNodeIsRefused() throws Exception {
    start();
    final LocalCoordinator admin = truth.connect();
    final Node other = Node.newBuilder().setId(5).setIncarnation(6).setAddress("other:1").build();
    final Node self = self(admin);
    assertEquals(Status.Code.FAILED_PRECONDITION, introduce(self, other));
    admin.announce(other);
    while (introduce(self, other) != null) { // until the node has heard of it
      Thread.sleep(1);
    }
    assertEquals(
        Status.Code.FAILED_PRECONDITION,
        introduce(self, other.toBuilder().setIncarnation(7).build()));
  }

  private static Node self(LocalCoordinator admin) {
    final List<Node> nodes = new ArrayList<>();
    admin.poll(
        new Coordinator.Listener() {
          @Override
          public void onGroup(GroupState state) {}

          @Override
          public void onDropped(long group) {}

          @Override
          public void onDroppedGroups(Collection<Long> newest) {}

          @Override
          public void onNodes(Collection<Node> living) {
            nodes.addAll(living);
          }

          @Override
          public void onConnected(boolean connected) {}
        });
    return nodes.get(0);
  }

  @Test
  void tooManyIndexesAreRefused() throws Exception {
    final LocalCoordinator admin = truth.connect();
    final List<GroupState> created = new ArrayList<>();
    for (int i = 0; i < Indexes.MAX_INDEXES; i++) {
      admin.create(
          GroupState.newBuilder()
              .setIndex("i" + i)
              .setReplicas(1)
              .setDefinition(
                  new IndexDefinition(IndexKind.HASH, Durability.MEMORY, 1, 1, 1).encoded())
              .setWon(Configuration.newBuilder().setLeader(5).setNonce(7 + i))
              .build(),
          (result, state) -> created.add(state));
    }
    start();
    final StatusException refusal = create("one more");
    assertNotNull(refusal);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, refusal.getStatus().getCode());
    assertTrue(refusal.getMessage().contains("1024"), refusal.getMessage());
    assertFalse(created.contains(null));
  }
}
