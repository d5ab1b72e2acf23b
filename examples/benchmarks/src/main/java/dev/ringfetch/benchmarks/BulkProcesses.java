package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.BulkBench.BulkPeer;
import dev.ringfetch.benchmarks.BulkBench.Executors;
import dev.ringfetch.benchmarks.bulk.LaneKind;
import dev.ringfetch.benchmarks.bulk.LanePair;
import dev.ringfetch.examples.process.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The processes of a run: all run at once, so that they can be measured by turns. */
final class BulkProcesses implements AutoCloseable {
  /** All memory from the start on, so that the growth of a heap is not measured. */
  static final List<String> FLAGS = List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch");

  private final Map<LaneKind, LanePair> lanes = new EnumMap<>(LaneKind.class);
  private final Map<Executors, Pair> pairs = new EnumMap<>(Executors.class);

  private BulkProcesses() {}

  /** Starts them. */
  static BulkProcesses start(List<BulkPeer> peers, List<Executors> executors) throws IOException {
    final BulkProcesses processes = new BulkProcesses();
    try {
      processes.startAll(peers, executors);
      return processes;
    } catch (IOException | RuntimeException e) {
      processes.close();
      throw e;
    }
  }

  private void startAll(List<BulkPeer> peers, List<Executors> executors) throws IOException {
    final List<Contender> contenders = new ArrayList<>();
    for (final BulkPeer peer : peers) {
      switch (peer) {
        case raw -> lanes.put(LaneKind.raw, LanePair.start(LaneKind.raw));
        case agrona -> lanes.put(LaneKind.agrona, LanePair.start(LaneKind.agrona));
        case grpc -> contenders.add(Contender.grpc);
        case ring -> contenders.add(Contender.ring);
      }
    }
    for (final Executors kind : executors) {
      pairs.put(kind, Pair.start(kind == Executors.direct, contenders, FLAGS));
    }
  }

  /** Lanes of memory. */
  Map<LaneKind, LanePair> lanes() {
    return lanes;
  }

  /** Servers and their clients. */
  Map<Executors, Pair> pairs() {
    return pairs;
  }

  /** Throws if a call that counts as the ring's did not go over the ring. */
  void checkRings() {
    for (final Pair pair : pairs.values()) {
      if (pair.contenders().contains(Contender.ring)) {
        final Answer described = pair.ask(Contender.ring, "describe");
        if (described.count("grpcCalls") != 0 || described.count("ringCalls") == 0) {
          throw new IllegalStateException("not all calls were carried by the ring: " + described);
        }
      }
    }
  }

  @Override
  public void close() {
    lanes.values().forEach(LanePair::close);
    pairs.values().forEach(Pair::close);
  }
}
