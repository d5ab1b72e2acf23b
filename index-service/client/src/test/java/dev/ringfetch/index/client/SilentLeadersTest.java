package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.NodeDescription;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A leader that accepts calls and answers none, and what another node says of itself. */
@Timeout(60)
final class SilentLeadersTest {
  private static final String INDEX = "index";
  private static final long SECONDS = 20;

  private final Node silent = new Node(1);
  private final Node other = new Node(2);
  private final AtomicInteger pending = new AtomicInteger();
  private LeaderChannel channel;

  /** A node that leads or not, and whose answers to reads the test gives. */
  private static final class Node {
    private final long id;
    private Server server;
    private volatile boolean answers;
    private volatile String role = "MEMBER";
    private volatile StreamObserver<GetResponse> waiting;
    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicInteger questions = new AtomicInteger();

    Node(long id) {
      this.id = id;
    }

    void start() throws IOException {
      server =
          NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
              .addService(
                  new IndexGrpc.IndexImplBase() {
                    @Override
                    public void get(GetRequest request, StreamObserver<GetResponse> responses) {
                      reads.incrementAndGet();
                      waiting = responses;
                      if (answers) {
                        answer(responses);
                      }
                    }

                    @Override
                    public void watch(
                        WatchRequest request, StreamObserver<WatchResponse> responses) {
                      reads.incrementAndGet();
                      if (answers) {
                        responses.onNext(WatchResponse.getDefaultInstance());
                        responses.onCompleted();
                      }
                    }
                  })
              .addService(
                  new IndexAdminGrpc.IndexAdminImplBase() {
                    @Override
                    public void describeCluster(
                        DescribeClusterRequest request,
                        StreamObserver<DescribeClusterResponse> responses) {
                      questions.incrementAndGet();
                      responses.onNext(describe());
                      responses.onCompleted();
                    }
                  })
              .build()
              .start();
    }

    void answer(StreamObserver<GetResponse> responses) {
      responses.onNext(GetResponse.newBuilder().setIncarnation(id).build());
      responses.onCompleted();
    }

    DescribeClusterResponse describe() {
      return DescribeClusterResponse.newBuilder()
          .setNode(id)
          .addNodes(NodeDescription.newBuilder().setNode(id).setAddress(address()))
          .addGroups(
              GroupDescription.newBuilder()
                  .setIndex(INDEX)
                  .setLeader(id)
                  .setEstablished(true)
                  .setRole(role))
          .build();
    }

    String address() {
      return "127.0.0.1:" + server.getPort();
    }
  }

  @BeforeEach
  void start() throws IOException {
    silent.start();
    other.start();
    other.answers = true;
    channel = connect(new ClientThreads(null));
  }

  private LeaderChannel connect(ClientThreads threads) {
    return new LeaderChannel(
        Targets.of(silent.address() + "," + other.address()),
        address ->
            Grpc.newChannelBuilder(address, InsecureChannelCredentials.create())
                .intercept(new Pending())
                .build(),
        threads);
  }

  @AfterEach
  void end() {
    channel.shutdownNow();
    silent.server.shutdownNow();
    other.server.shutdownNow();
  }

  private Future<GetResponse> get(boolean waits) {
    final IndexGrpc.IndexFutureStub stub =
        IndexGrpc.newFutureStub(channel).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
    return (waits ? stub.withWaitForReady() : stub)
        .get(GetRequest.newBuilder().setIndex(INDEX).build());
  }

  @Test
  void aWatchLeavesTheNode() {
    other.role = "LEADING";
    final WatchRequest request = WatchRequest.newBuilder().setIndex(INDEX).build();
    final IndexGrpc.IndexBlockingStub stub = IndexGrpc.newBlockingStub(channel);
    final StatusRuntimeException lost =
        assertThrows(StatusRuntimeException.class, () -> stub.watch(request).hasNext());
    assertEquals(Status.Code.UNAVAILABLE, lost.getStatus().getCode());
    assertTrue(stub.watch(request).hasNext());
    assertEquals(1, silent.reads.get());
  }

  @Test
  void aCallThatWaitsIsMadeAtTheNodeThatLeads() throws Exception {
    other.role = "LEADING";
    assertEquals(2, get(true).get().getIncarnation());
    assertEquals(1, silent.reads.get());
    silent.answer(silent.waiting); // late: nobody takes it
    assertEquals(2, get(true).get().getIncarnation());
    assertEquals(1, silent.reads.get(), "the next call goes to the leader at once");
  }

  @Test
  void anotherCallEndsUnavailable() throws Exception {
    other.role = "LEADING";
    final ExecutionException failure =
        assertThrows(ExecutionException.class, () -> get(false).get());
    final Status status = ((StatusRuntimeException) failure.getCause()).getStatus();
    assertEquals(Status.Code.UNAVAILABLE, status.getCode());
    assertTrue(status.getDescription().contains("another one leads"), status.toString());
  }

  /** Its thread waits for tasks of the call's executor. */
  @Test
  void aCallThatBlocksItsThreadEnds() {
    other.role = "LEADING";
    final IndexGrpc.IndexBlockingStub stub =
        IndexGrpc.newBlockingStub(channel).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
    final GetRequest request = GetRequest.newBuilder().setIndex(INDEX).build();
    assertEquals(
        Status.Code.UNAVAILABLE,
        assertThrows(StatusRuntimeException.class, () -> stub.get(request)).getStatus().getCode());
    assertEquals(2, stub.get(request).getIncarnation());
  }

  @Test
  void aCallThatTakesLongGoesOnWhileNoOtherLeads() throws Exception {
    final Future<GetResponse> asked = get(true);
    while (other.questions.get() < 2) {
      assertFalse(asked.isDone());
      Thread.sleep(5);
    }
    silent.answer(silent.waiting);
    assertEquals(1, asked.get().getIncarnation());
    assertEquals(0, other.reads.get());
  }

  @Test
  void nodesAreAskedLessAndLessUntilThereIsAnAnswer() throws Exception {
    final ManualThreads threads = new ManualThreads(null);
    channel.shutdownNow();
    channel = connect(threads);
    for (int attempt = 1; attempt <= 2; attempt++) {
      final int before = other.questions.get();
      final Future<GetResponse> asked = get(true);
      while (silent.reads.get() < attempt) {
        Thread.sleep(1);
      }
      look(threads, SilentLeaders.PATIENCE_MS / SilentLeaders.CHECK_MS);
      assertEquals(before, other.questions.get());
      look(threads, 1 + 1 + 2); // behind pauses of at most 100 and 200 ms
      assertTrue(other.questions.get() >= before + 3, () -> before + " " + other.questions);
      final int checks = 1000;
      look(threads, checks);
      final int most = checks * SilentLeaders.CHECK_MS / (SilentLeaders.PAUSE_MAX_MS / 2);
      final int least = checks * SilentLeaders.CHECK_MS / (2 * SilentLeaders.PAUSE_MAX_MS);
      final int questions = other.questions.get() - before;
      assertTrue(questions > least && questions <= most, "questions=" + questions);
      silent.answer(silent.waiting);
      assertEquals(1, asked.get().getIncarnation());
      look(threads, 2); // it is forgotten
    }
  }

  /** A pause of this process is no silence: its checks come late, and count once. */
  @Test
  void aPauseOfTheProcessAsksNobody() throws Exception {
    final ManualThreads threads = new ManualThreads(null);
    channel.shutdownNow();
    channel = connect(threads);
    final Future<GetResponse> asked = get(true);
    while (silent.reads.get() < 1) {
      Thread.sleep(1);
    }
    threads.advance(TimeUnit.HOURS.toNanos(1));
    threads.advance(TimeUnit.HOURS.toNanos(1));
    silent.answer(silent.waiting);
    assertEquals(1, asked.get().getIncarnation());
    assertEquals(0, other.questions.get());
  }

  /** Makes checks, and waits after each for the answers to its questions. */
  private void look(ManualThreads threads, int checks) throws InterruptedException {
    for (int i = 0; i < checks; i++) {
      threads.advance(TimeUnit.MILLISECONDS.toNanos(SilentLeaders.CHECK_MS));
      while (pending.get() > 0) {
        Thread.sleep(1);
      }
    }
  }

  /** Counts the questions that have not ended. */
  private final class Pending implements ClientInterceptor {
    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      final ClientCall<Q, R> call = next.newCall(method, options);
      return !method.equals(IndexAdminGrpc.getDescribeClusterMethod())
          ? call
          : new SimpleForwardingClientCall<>(call) {
            @Override
            public void start(Listener<R> listener, Metadata headers) {
              pending.incrementAndGet();
              super.start(
                  new SimpleForwardingClientCallListener<>(listener) {
                    @Override
                    public void onClose(Status status, Metadata trailers) {
                      super.onClose(status, trailers);
                      pending.decrementAndGet();
                    }
                  },
                  headers);
            }
          };
    }
  }
}
