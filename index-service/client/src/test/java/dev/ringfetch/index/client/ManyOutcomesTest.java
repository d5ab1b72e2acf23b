package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.MemberDescription;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.RequestNumber;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node joins an index that keeps more outcomes than one message can hold. */
@Timeout(180)
final class ManyOutcomesTest {
  private static final String MANY = "many";
  private static final int CLIENTS = 65; // 4.5 MiB of records
  private static final int WRITES = 1_000;

  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final List<ClusterMember> members = new ArrayList<>();
  private final List<BatchPutRequest> sent = new ArrayList<>();
  private final List<BatchPutResponse> answered = new ArrayList<>();

  @AfterEach
  void stop() {
    members.forEach(ClusterMember::close);
  }

  private void start() throws Exception {
    members.add(new ClusterMember(truth.connect(), IndexMemory.ofProcess(256L << 20)));
  }

  private GroupDescription group(String index) {
    return members.get(0).describe().getGroupsList().stream()
        .filter(group -> group.getIndex().equals(index))
        .findFirst()
        .orElse(GroupDescription.getDefaultInstance());
  }

  /** The node that leads, as the first one knows; null if that has ended. */
  private ClusterMember leader(String index) {
    final long leader = group(index).getLeader();
    return members.stream()
        .filter(member -> member.describe().getNode() == leader)
        .findFirst()
        .orElse(null);
  }

  /** Waits until all nodes that there are are the members. */
  private void awaitAll(String index) throws Exception {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!group(index).getEstablished() || !nodes(group(index)).equals(nodes())) {
      assertTrue(System.nanoTime() - endNs < 0, () -> members.get(0).describe().toString());
      Thread.sleep(10);
    }
  }

  private static Set<Long> nodes(GroupDescription group) {
    return group.getMembersList().stream()
        .map(MemberDescription::getNode)
        .collect(Collectors.toSet());
  }

  private Set<Long> nodes() {
    return members.stream().map(member -> member.describe().getNode()).collect(Collectors.toSet());
  }

  private void create(String index) throws Exception {
    final CreateIndexRequest request =
        CreateIndexRequest.newBuilder().setIndex(index).setKind(IndexKind.ORDERED).build();
    members.get(0).ask(admin -> admin.createIndex(request));
    awaitAll(index);
  }

  private static IndexGrpc.IndexBlockingStub stub(ClusterMember member) {
    return IndexGrpc.newBlockingStub(member.channel()).withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  /** Each client sends one batch, and never says that it has the answer. */
  private void fill(ClusterMember leader) {
    for (int i = 0; i < CLIENTS; i++) {
      final long client =
          stub(leader)
              .openClient(OpenClientRequest.newBuilder().setIndex(MANY).build())
              .getClient();
      final BatchPutRequest.Builder batch =
          BatchPutRequest.newBuilder()
              .setIndex(MANY)
              .setNumber(
                  RequestNumber.newBuilder().setClient(client).setNumber(1).setFirstIncomplete(1));
      for (int j = 0; j < WRITES; j++) {
        batch.addEntries(PutEntry.newBuilder().setKey(ByteString.copyFromUtf8("k" + j + "/" + i)));
      }
      sent.add(batch.build());
      answered.add(stub(leader).batchPut(batch.build()));
    }
    answered.stream()
        .flatMap(answer -> answer.getOutcomesList().stream())
        .map(PutOutcome::getCode)
        .forEach(code -> assertEquals(0, code));
  }

  @Test
  void aNodeJoinsAndHasAllOutcomes() throws Exception {
    for (int i = 0; i < 3; i++) {
      start();
    }
    create(MANY);
    create("other");
    final ClusterMember leader = leader(MANY);
    fill(leader);
    final ClusterMember gone =
        members.stream().filter(member -> member != leader).findFirst().orElseThrow();
    members.remove(gone);
    gone.close();
    start();
    awaitAll("other");
    awaitAll(MANY);

    // The node that has joined has them all.
    final List<ClusterMember> first = List.copyOf(members);
    final ClusterMember joined = members.get(2);
    for (final ClusterMember member : first) {
      if (member != joined) {
        members.remove(member);
        member.close();
        awaitAll(MANY); // else the last one may have been taken out by the one before
      }
    }
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (leader(MANY) != joined || !group(MANY).getEstablished()) {
      assertTrue(System.nanoTime() - endNs < 0);
      Thread.sleep(10);
    }
    for (int i = 0; i < CLIENTS; i++) {
      assertEquals(
          answered.get(i).getOutcomesList(),
          stub(joined).batchPut(sent.get(i)).getOutcomesList(),
          "client=" + i);
    }
  }
}
