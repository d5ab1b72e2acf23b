package dev.ringfetch.benchmarks;

import com.google.errorprone.annotations.Immutable;
import dev.ringfetch.benchmarks.bulk.AeronProcess;
import dev.ringfetch.benchmarks.bulk.EchoPair;
import dev.ringfetch.benchmarks.bulk.LaneKind;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Who takes part in {@link PeersBench}. */
enum Peer {
  /** Memory and nothing else. */
  raw("raw", false, flags -> new EchoPeer(EchoPair.start(LaneKind.raw, flags))),
  /** Agrona's ring buffers. */
  agrona("agrona", false, flags -> new EchoPeer(EchoPair.start(LaneKind.agrona, flags))),
  /** Aeron in shared memory. */
  aeron("aeron-ipc", false, flags -> new EchoPeer(AeronProcess.start(flags))),
  /** gRPC over HTTP/2 over TCP. */
  grpc("grpc-netty-tcp", true, flags -> new StubPeer(PairContender.grpc("localhost", flags))),
  /** The ring in shared memory. */
  ringfetch(
      "ringfetch",
      true,
      flags -> new StubPeer(PairContender.ring("localhost", Rings.over("shm"), flags)));

  private static final int SMALL = 32;

  private final String text;
  private final boolean stubs;
  private final Starter starter;

  Peer(String text, boolean stubs, Starter starter) {
    this.text = text;
    this.stubs = stubs;
    this.starter = starter;
  }

  /** How the processes of a peer are started. */
  @Immutable
  private interface Starter {
    PeerContender start(List<String> flags) throws IOException;
  }

  /** Starts the processes, which JVMs with such flags run. */
  PeerContender start(List<String> flags) throws IOException {
    return starter.start(flags);
  }

  /** Name for tables and scripts. */
  String text() {
    return text;
  }

  /** Whether calls go through a generated stub. Such peers take long until they are warm. */
  boolean hasStubs() {
    return stubs;
  }

  /**
   * What it is measured with.
   *
   * @param payloads of the calls that are made one at a time, in bytes.
   * @param depths of the small calls that are on their way together.
   */
  List<Load> loads(List<Integer> payloads, List<Integer> depths) {
    final List<Load> loads = new ArrayList<>();
    for (final int payload : payloads) {
      loads.add(new Load(stubs ? Load.Mode.blocking : Load.Mode.direct, payload, 1));
    }
    if (stubs) {
      depths.forEach(depth -> loads.add(new Load(Load.Mode.async, SMALL, depth)));
    }
    return loads;
  }
}
