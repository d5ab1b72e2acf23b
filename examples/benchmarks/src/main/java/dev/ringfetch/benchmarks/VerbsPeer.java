package dev.ringfetch.benchmarks;

import com.google.errorprone.annotations.Immutable;
import dev.ringfetch.benchmarks.bulk.EchoPair;
import dev.ringfetch.benchmarks.bulk.LaneKind;
import dev.ringfetch.benchmarks.darpc.DarpcPair;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.verbs.BareMode;
import dev.ringfetch.examples.verbs.ProcessPair;
import dev.ringfetch.examples.verbs.VerbsContender;
import dev.ringfetch.rpc.ReplyMode;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The peers of {@link VerbsBench}. */
enum VerbsPeer {
  /** Memory and nothing else. */
  raw(
      "raw",
      "polling",
      "memory",
      null,
      run -> new EchoPeer(EchoPair.start(LaneKind.raw, run.flags()))),
  /** The ring in shared memory, by blocking stub. */
  ring("ringfetch", "blocking", "shm", raw, run -> run.ring(Rings.over("shm"))),
  /** The ring in shared memory by itself: bytes, without stub and messages. */
  bytes("ringfetch", "ring", "shm", raw, run -> run.bytes(Rings.over("shm"))),
  /** Verbs alone: the client READs the answer. */
  fetch(BareMode.fetch),
  /** Verbs alone: the server WRITEs the answer. */
  push(BareMode.push),
  /** Verbs alone: the server SENDs the answer as a datagram. */
  datagram(BareMode.datagram),
  /** The ring over verbs, by blocking stub: the client READs the answer. */
  ringFetch(ReplyMode.FETCH, fetch),
  /** The ring over verbs, by blocking stub: the server WRITEs the answer. */
  ringPush(ReplyMode.PUSH, push),
  /** The ring over verbs, by blocking stub: the server SENDs the answer as a datagram. */
  ringDatagram(ReplyMode.DATAGRAM, datagram),
  /** The ring over verbs, by blocking stub: the client READs the answer or has it written. */
  ringAdaptive(ReplyMode.ADAPTIVE, push),
  /** The ring over verbs by itself: bytes, which the client READs. */
  bytesFetch("ringfetch", "ring-fetch", "verbs", fetch, run -> run.bytes(ReplyMode.FETCH)),
  /** The ring over verbs by itself: bytes, which the server WRITEs. */
  bytesPush("ringfetch", "ring-push", "verbs", push, run -> run.bytes(ReplyMode.PUSH)),
  /** DaRPC, with a server that polls. */
  darpc("darpc", "polling", "verbs", null, run -> DarpcPair.start(run.host(), run.flags())),
  /** gRPC over HTTP/2 over TCP, by blocking stub. */
  grpc("grpc-netty-tcp", "blocking", "tcp", null, Run::grpc);

  private final String text;
  private final String mode;
  private final String link;
  private final VerbsPeer floor;
  private final Starter starter;

  VerbsPeer(String text, String mode, String link, VerbsPeer floor, Starter starter) {
    this.text = text;
    this.mode = mode;
    this.link = link;
    this.floor = floor;
    this.starter = starter;
  }

  VerbsPeer(BareMode mode) {
    this(
        "verbs",
        mode.name(),
        "verbs",
        null,
        run -> ProcessPair.bare(mode, run.host(), run.flags()));
  }

  VerbsPeer(ReplyMode mode, VerbsPeer floor) {
    this(
        "ringfetch",
        mode.name().toLowerCase(Locale.ROOT),
        "verbs",
        floor,
        run -> run.ring(Rings.over("verbs").replyMode(mode)));
  }

  /**
   * The settings that all peers share.
   *
   * @param host by whose address the processes meet.
   * @param spinMicros how long both sides of a ring poll before they sleep.
   * @param flags of all JVMs.
   */
  record Run(InetAddress host, int spinMicros, List<String> flags) {
    private VerbsContender ring(Rings rings) throws IOException {
      return PairContender.ring(host.getHostAddress(), rings.spinMicros(spinMicros), true, flags);
    }

    private VerbsContender bytes(ReplyMode mode) throws IOException {
      return bytes(Rings.over("verbs").replyMode(mode));
    }

    private VerbsContender bytes(Rings rings) throws IOException {
      return RingPeer.start(rings.spinMicros(spinMicros), flags);
    }

    private VerbsContender grpc() throws IOException {
      return PairContender.grpc(host.getHostAddress(), true, flags);
    }
  }

  /** How the processes of a peer are started. */
  @Immutable
  private interface Starter {
    VerbsContender start(Run run) throws IOException;
  }

  /** Starts the processes. */
  VerbsContender start(Run run) throws IOException {
    return starter.start(run);
  }

  /** Name for tables and scripts. */
  String text() {
    return text;
  }

  /** How its client calls and its server answers. */
  String mode() {
    return mode;
  }

  /** The link between the processes. */
  String link() {
    return link;
  }

  /** Whether its calls are those of a stub, or bytes and no more. */
  boolean hasStub() {
    return switch (this) {
      case ring, ringFetch, ringPush, ringDatagram, ringAdaptive, grpc -> true;
      case raw, bytes, fetch, push, datagram, bytesFetch, bytesPush, darpc -> false;
    };
  }

  /** The floor of this peer: uses the same link in the same way and adds nothing to it. */
  Optional<VerbsPeer> floor() {
    return Optional.ofNullable(floor);
  }
}
