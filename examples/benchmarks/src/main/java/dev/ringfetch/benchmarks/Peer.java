package dev.ringfetch.benchmarks;

import com.google.errorprone.annotations.Immutable;
import dev.ringfetch.benchmarks.bulk.AeronProcess;
import dev.ringfetch.benchmarks.bulk.EchoPair;
import dev.ringfetch.benchmarks.bulk.LaneKind;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.util.List;

/** The peers of {@link PeersBench}. */
enum Peer {
  /** Memory and nothing else. */
  raw("raw", false, (setup, flags) -> new EchoPeer(EchoPair.start(LaneKind.raw, flags))),
  /** Agrona's ring buffers. */
  agrona("agrona", false, (setup, flags) -> new EchoPeer(EchoPair.start(LaneKind.agrona, flags))),
  /** Aeron in shared memory. */
  aeron("aeron-ipc", false, (setup, flags) -> new EchoPeer(AeronProcess.start(flags))),
  /** gRPC between the threads of one process: there is nothing to cross. */
  inProcess("grpc-inprocess", true, InProcess::start),
  /** gRPC over HTTP/2 over a Unix socket, with epoll. */
  unix("grpc-netty-uds", true, UnixPair::start),
  /** gRPC over HTTP/2 over TCP. */
  grpc(
      "grpc-netty-tcp",
      true,
      (setup, flags) -> StubPeer.of(PairContender.grpc("localhost", isDirect(setup), flags))),
  /** The ring in shared memory, with stubs and by itself. */
  ringfetch(
      "ringfetch",
      true,
      (setup, flags) ->
          setup == Setup.bare
              ? RingPeer.start(Rings.over("shm"), flags)
              : StubPeer.of(
                  PairContender.ring("localhost", Rings.over("shm"), isDirect(setup), flags)));

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
    PeerContender start(Setup setup, List<String> flags) throws IOException;
  }

  private static boolean isDirect(Setup setup) {
    return setup == Setup.direct;
  }

  /** Starts the processes, which JVMs with such flags run. */
  PeerContender start(Setup setup, List<String> flags) throws IOException {
    return starter.start(setup, flags);
  }

  /** Whether the peer supports a mode. */
  boolean takes(Mode mode) {
    return switch (mode) {
      case blocking, future, async, standard -> stubs;
      case lean, ring -> this == ringfetch;
      case direct -> !stubs;
    };
  }

  /** Whether so many calls can be in flight: memory alone takes only one message. */
  boolean takes(Load load) {
    return takes(load.mode()) && (this != raw || load.inFlight() == 1);
  }

  /**
   * Whether client and server are one process: its processor time counts as the client's in all
   * figures.
   */
  boolean isOneProcess() {
    return this == inProcess;
  }

  /** Name for tables, scripts and options. */
  @Override
  public String toString() {
    return text;
  }
}
