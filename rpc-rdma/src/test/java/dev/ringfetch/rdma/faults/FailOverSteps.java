package dev.ringfetch.rdma.faults;

import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.MemberDescription;
import dev.ringfetch.system.Await;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A client of two nodes, the leader of which writes to the other's memory over a device, and dies.
 * Nothing that was acknowledged may be lost.
 *
 * <p>As a program, with the addresses of the two: prints {@value #PLACED} when the first one leads
 * and has placed some writes, and goes on with writes, until the other one leads. What kills the
 * first one waits for that line. It prints {@value #KEPT} at the end.
 */
final class FailOverSteps implements AutoCloseable {
  private static final String PATH = "one-sided verbs";
  private static final String PLACED = "records are placed";
  private static final String KEPT = "nothing is lost";
  private static final int WAIT_S = 240;
  private static final int CALL_S = 60;

  /** Writes before the leader dies, and again so many after. */
  private static final int WRITES = 300;

  /** The most indexes, each led by the one node or the other by chance. */
  private static final int INDEXES = 30;

  private final Map<String, ManagedChannel> nodes = new LinkedHashMap<>();
  private final IndexClient client;
  private int tried; // indexes
  private String name;
  private HashIndex<String, Long> index;

  FailOverSteps(List<String> addresses) {
    for (final String address : addresses) {
      nodes.put(address, ManagedChannelBuilder.forTarget(address).usePlaintext().build());
    }
    client =
        IndexClient.builder()
            .target(String.join(",", addresses))
            .deadline(Duration.ofSeconds(WAIT_S))
            .build();
  }

  /** Runs the steps beside a script. */
  public static void main(String[] addresses) throws Exception {
    try (FailOverSteps steps = new FailOverSteps(List.of(addresses))) {
      steps.place(addresses[0]);
      steps.writeBeyond(addresses[0], () -> System.out.println(PLACED));
      System.out.println(KEPT);
    }
  }

  private interface Condition {
    boolean holds(DescribeClusterResponse description);
  }

  /** Whether a node answers, and says so. */
  private boolean says(String address, Condition condition) {
    try {
      return condition.holds(
          IndexAdminGrpc.newBlockingStub(nodes.get(address))
              .withDeadlineAfter(CALL_S, TimeUnit.SECONDS)
              .describeCluster(DescribeClusterRequest.getDefaultInstance()));
    } catch (StatusRuntimeException e) {
      return false;
    }
  }

  private boolean leads(DescribeClusterResponse description) {
    final GroupDescription group = group(description);
    return group.getEstablished() && group.getLeader() == description.getNode();
  }

  private boolean places(DescribeClusterResponse description) {
    return leads(description)
        && group(description).getMembersList().stream()
            .map(MemberDescription::getReplicatedBy)
            .anyMatch(PATH::equals);
  }

  private GroupDescription group(DescribeClusterResponse description) {
    return description.getGroupsList().stream()
        .filter(group -> group.getIndex().equals(name))
        .findFirst()
        .orElse(GroupDescription.getDefaultInstance());
  }

  /**
   * Creates indexes until a node leads one, and waits until it places records.
   *
   * @param wanted its address; null: any
   * @return its address
   */
  String place(String wanted) throws Exception {
    for (final String address : nodes.keySet()) {
      Await.until(
          "all nodes",
          WAIT_S,
          () -> says(address, description -> description.getNodesCount() == nodes.size()));
    }
    while (tried < INDEXES) {
      name = "index-" + tried++;
      index = client.hash(name, Codec.string(), Codec.int64());
      index.put("before", 1L);
      for (final String address : nodes.keySet()) {
        if ((wanted == null || address.equals(wanted)) && says(address, this::leads)) {
          Await.until("records that are placed", WAIT_S, () -> says(address, this::places));
          return address;
        }
      }
    }
    throw new AssertionError("it leads none of " + INDEXES + " indexes: " + wanted);
  }

  /** The index that was created last. */
  HashIndex<String, Long> index() {
    return index;
  }

  /**
   * Writes until another node leads, and reads what was acknowledged.
   *
   * @param leader its address
   * @param die is run after some writes, in a thread of its own
   */
  void writeBeyond(String leader, Runnable die) throws Exception {
    final String other =
        nodes.keySet().stream()
            .filter(address -> !address.equals(leader))
            .findFirst()
            .orElseThrow();
    final Thread killer = new Thread(die);
    final long beginNs = System.nanoTime();
    long longestNs = 0;
    long written = 0;
    long end = Long.MAX_VALUE;
    while (written < end) {
      if (written == WRITES && !says(leader, this::places)) {
        System.out.println("a look has taken too long, and records go by calls: another index");
        place(leader);
        written = 0;
      }
      if (written == WRITES) {
        System.out.printf("%d puts placed in %d ms%n", written, Await.millisSince(beginNs));
        killer.start();
      }
      final long putNs = System.nanoTime();
      index.put("k" + written, written);
      written++;
      final long tookNs = System.nanoTime() - putNs;
      longestNs = Math.max(longestNs, tookNs);
      if (end == Long.MAX_VALUE && written % WRITES == 0 && says(other, this::leads)) {
        end = written + WRITES;
      }
      if (System.nanoTime() - beginNs > TimeUnit.SECONDS.toNanos(WAIT_S)) {
        throw new AssertionError("no other node leads: written=" + written);
      }
    }
    killer.join();
    System.out.printf(
        "%d puts in %d ms, the longest took %d ms%n",
        written, Await.millisSince(beginNs), TimeUnit.NANOSECONDS.toMillis(longestNs));
    if (index.get("before").orElse(0L) != 1) {
      throw new AssertionError("lost: the first write");
    }
    for (long i = 0; i < written; i++) {
      final long found = index.get("k" + i).orElse(-1L);
      if (found != i) {
        throw new AssertionError("lost: key=k" + i + " found=" + found);
      }
    }
  }

  @Override
  public void close() {
    client.close();
    nodes.values().forEach(ManagedChannel::shutdownNow);
  }
}
