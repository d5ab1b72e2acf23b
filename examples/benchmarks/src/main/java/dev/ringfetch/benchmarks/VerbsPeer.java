package dev.ringfetch.benchmarks;

import java.util.Optional;

/** Who takes part in {@link VerbsBench}. */
enum VerbsPeer {
  /** Memory and nothing else. */
  raw("raw", "polling", "memory", null),
  /** The ring in shared memory, by blocking stub. */
  ring("ringfetch", "blocking", "shm", raw),
  /** Verbs alone: the client READs the answer. */
  fetch("verbs", "fetch", "verbs", null),
  /** Verbs alone: the server WRITEs the answer. */
  push("verbs", "push", "verbs", null),
  /** Verbs alone: the server SENDs the answer as a datagram. */
  datagram("verbs", "datagram", "verbs", null),
  /** DaRPC, with a server that polls. */
  darpc("darpc", "polling", "verbs", null),
  /** gRPC over HTTP/2 over TCP, by blocking stub. */
  grpc("grpc-netty-tcp", "blocking", "tcp", null);

  private final String text;
  private final String mode;
  private final String link;
  private final VerbsPeer floor;

  VerbsPeer(String text, String mode, String link, VerbsPeer floor) {
    this.text = text;
    this.mode = mode;
    this.link = link;
    this.floor = floor;
  }

  /** Name for tables and scripts. */
  String text() {
    return text;
  }

  /** How it is called and answered. */
  String mode() {
    return mode;
  }

  /** What lies between the processes. */
  String link() {
    return link;
  }

  /** Who uses the same link in the same way and adds nothing to it. */
  Optional<VerbsPeer> floor() {
    return Optional.ofNullable(floor);
  }
}
