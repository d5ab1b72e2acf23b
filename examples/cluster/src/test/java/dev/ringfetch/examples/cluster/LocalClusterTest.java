package dev.ringfetch.examples.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.cli.ClusterView;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clusters of real processes: what becomes of them, and of what was asked for. */
@Tag("slow")
@Timeout(400)
final class LocalClusterTest {
  private static final String INDEX = "index";
  private static final String KEY = "key";
  private static final LocalCluster.NodeOptions OPTIONS = LocalCluster.NodeOptions.DEFAULT;
  private static final long MS = 1_000_000;
  private static final long AFTER_MS = 2_000;

  @TempDir private Path directory;
  private LocalCluster cluster;

  @BeforeEach
  void open() throws IOException {
    cluster = LocalCluster.open(directory.resolve("cluster"), true);
  }

  @AfterEach
  void end() throws IOException {
    cluster.down();
    cluster.delete();
    cluster.close();
    assertEquals(List.of(), ClusterProcess.strays(cluster.directory()));
    try (Stream<Path> files = Files.list(directory)) {
      assertEquals(List.of(), files.toList());
    }
  }

  private ClusterView awaitComplete(int members) throws IOException {
    return cluster.awaitAnswers(
        "members are not complete",
        view ->
            view.index(INDEX)
                .filter(index -> index.served() && index.members() == members)
                .isPresent());
  }

  private ClusterProcess leader(ClusterView view) throws IOException {
    final String address = view.index(INDEX).orElseThrow().leader();
    return cluster.nodes().stream()
        .filter(node -> node.address().equals(address))
        .findFirst()
        .orElseThrow();
  }

  private String others(ClusterProcess than) throws IOException {
    return String.join(
        ",", cluster.addresses().stream().filter(each -> !each.equals(than.address())).toList());
  }

  private static HashIndex<String, Long> index(IndexClient client) {
    return client.hash(INDEX, Codec.string(), Codec.int64());
  }

  @Test
  void aClusterThatRunsIsNotStartedAgain() throws IOException {
    cluster.up(1, OPTIONS.replicas(1));
    final ClusterProcess node = cluster.nodes().get(0);
    final ClusterFailure refusal =
        assertThrows(ClusterFailure.class, () -> cluster.up(1, OPTIONS.replicas(1)));
    assertTrue(refusal.getMessage().contains("runs already"), refusal.getMessage());
    assertTrue(node.isAlive());
  }

  @Test
  void nothingIsLeftOfAStartThatFails() throws IOException {
    final ClusterFailure failure =
        assertThrows(
            ClusterFailure.class,
            () -> cluster.up(2, new LocalCluster.NodeOptions(2, "none", "64m")));
    assertTrue(failure.getMessage().contains("--memory"), failure.getMessage());
    assertEquals(List.of(), ClusterProcess.strays(cluster.directory()));
    assertEquals(List.of(), cluster.processes());
  }

  @Test
  void theLogOfANodeThatDoesNotStartIsLeft() throws IOException {
    cluster.up(1, OPTIONS.replicas(1));
    final ClusterFailure failure =
        assertThrows(
            ClusterFailure.class,
            () -> cluster.add(new LocalCluster.NodeOptions(1, "none", "64m")));
    final Path log = cluster.directory().resolve("node-2.log");
    assertTrue(failure.getMessage().contains("log: " + log), failure.getMessage());
    assertTrue(Files.readString(log).contains("--memory"));
    assertEquals(2, cluster.processes().size()); // the coordinator and a node
  }

  private ClusterView awaitPaths(String path) throws IOException {
    return cluster.awaitAnswers(
        "records go another way than " + path,
        view ->
            view.index(INDEX)
                .filter(ClusterView.IndexView::isComplete)
                .filter(
                    index ->
                        index.followers().stream()
                            .allMatch(each -> each.replicatedBy().equals(path)))
                .isPresent());
  }

  @Test
  void recordsThatWerePlacedInMemoryOutliveAKilledLeader() throws IOException {
    cluster.up(3, OPTIONS);
    try (IndexClient client = Workload.client(String.join(",", cluster.addresses()))) {
      index(client).put(KEY, 0L);
      final ClusterProcess first = leader(awaitPaths("one-sided shm"));
      for (long i = 1; i <= 1_000; i++) {
        index(client).put(KEY, i);
      }
      first.kill();
      assertEquals(1_000L, index(client).get(KEY).orElseThrow());
      index(client).put(KEY, 1_001L);
      assertEquals(1_001L, index(client).get(KEY).orElseThrow());
    }
  }

  @Test
  void recordsGoByCallsWhereThatIsAskedFor() throws IOException {
    cluster.up(2, OPTIONS.replicas(2).replication("rpc"));
    try (IndexClient client = Workload.client(String.join(",", cluster.addresses()))) {
      index(client).put(KEY, 1L);
      awaitPaths("rpc");
    }
  }

  @Test
  void aNodeThatIsRemovedOrKilledIsReplaced() throws IOException {
    cluster.up(3, OPTIONS);
    try (IndexClient client = Workload.client(String.join(",", cluster.addresses()))) {
      index(client).put(KEY, 1L);
      final ClusterProcess first = leader(awaitComplete(3));
      cluster.remove(first.name().substring("node-".length()));
      assertFalse(first.isAlive());
      index(client).put(KEY, 2L);
      awaitComplete(2);
      assertEquals(first.name(), cluster.add(OPTIONS).name());
      final ClusterProcess second = leader(awaitComplete(3));
      second.kill();
      index(client).put(KEY, 3L);
      assertEquals(second.name(), cluster.add(OPTIONS).name());
      awaitComplete(3);
      assertEquals(3L, index(client).get(KEY).orElseThrow());
    }
  }

  @Test
  void whatIsOnDiskOutlivesAllNodes() throws IOException {
    final Path data = directory.resolve("data");
    try {
      cluster.keepData(data);
      cluster.up(3, OPTIONS);
      try (IndexClient client = Workload.client(String.join(",", cluster.addresses()))) {
        for (long i = 0; i < 200; i++) {
          index(client).put(KEY + i, i);
        }
      }
      for (final ClusterProcess node : cluster.nodes()) {
        node.kill();
      }
      for (int i = 1; i <= 3; i++) {
        cluster.add(OPTIONS);
      }
      awaitComplete(3);
      expectAll();
      cluster.down();
      assertTrue(Files.exists(cluster.directory().resolve("node-1.log")));
      cluster.up(3, OPTIONS);
      awaitComplete(3);
      expectAll();
    } finally {
      cluster.down();
      try (Stream<Path> files = Files.walk(data)) {
        for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private void expectAll() throws IOException {
    try (IndexClient client = Workload.client(String.join(",", cluster.addresses()))) {
      for (long i = 0; i < 200; i++) {
        assertEquals(i, index(client).get(KEY + i).orElseThrow());
      }
    }
  }

  /** Over a ring the request lies in memory of the leader, over gRPC in its socket. */
  @Test
  void aLeaderThatWasStoppedAnswersNothingOldWhenItGoesOn() throws Exception {
    cluster.up(3, OPTIONS);
    try (IndexClient client = Workload.client(String.join(",", cluster.addresses()))) {
      index(client).put(KEY, 1L);
    }
    final ClusterProcess leader = leader(awaitComplete(3));
    final ManagedChannel grpc =
        Grpc.newChannelBuilder(leader.address(), InsecureChannelCredentials.create()).build();
    final ManagedChannel ring =
        RingChannelBuilder.forTarget(leader.address()).usePlaintext().build();
    try {
      assertEquals(1, value(ask(grpc).get()));
      assertEquals(1, value(ask(ring).get()));
      leader.pauseProcess();
      final long stoppedByNs = System.nanoTime() + 10_000 * MS;
      while (leader.state() != ClusterProcess.State.PAUSED) { // a signal takes its time
        assertTrue(System.nanoTime() < stoppedByNs, "it was not stopped");
        TimeUnit.MILLISECONDS.sleep(1);
      }
      try (IndexClient client = Workload.client(others(leader))) {
        index(client).put(KEY, 2L);
      }
      final List<Future<GetResponse>> asked = List.of(ask(grpc), ask(ring));
      leader.resume();
      for (final Future<GetResponse> each : asked) {
        refusesOrHasTwo(each);
      }
      final long endNs = System.nanoTime() + AFTER_MS * MS;
      while (System.nanoTime() < endNs) {
        refusesOrHasTwo(ask(grpc));
        refusesOrHasTwo(ask(ring));
      }
      awaitComplete(3);
    } finally {
      grpc.shutdownNow();
      ring.shutdownNow();
    }
  }

  private static Future<GetResponse> ask(ManagedChannel channel) {
    return IndexGrpc.newFutureStub(channel)
        .withDeadlineAfter(30, TimeUnit.SECONDS)
        .get(GetRequest.newBuilder().setIndex(INDEX).setKey(ByteString.copyFromUtf8(KEY)).build());
  }

  private static long value(GetResponse answer) {
    return Codec.int64().decode(answer.getEntry().getValue());
  }

  /** It may lead again, and has the new value then. */
  private static void refusesOrHasTwo(Future<GetResponse> asked) throws InterruptedException {
    try {
      assertEquals(2, value(asked.get()));
    } catch (ExecutionException e) {
      final Status.Code code = ((StatusRuntimeException) e.getCause()).getStatus().getCode();
      assertTrue(
          code == Status.Code.FAILED_PRECONDITION || code == Status.Code.UNAVAILABLE,
          e.getCause().toString());
    }
  }
}
