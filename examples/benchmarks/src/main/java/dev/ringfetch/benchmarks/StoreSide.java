package dev.ringfetch.benchmarks;

import java.util.List;

/** The sides of {@link IndexBench}. */
enum StoreSide {
  /** The index by calls over a ring. */
  ringfetch("ringfetch"),
  /** An ordered index of the same server by calls over a ring. */
  ordered("ringfetch-ordered"),
  /** An echo of as many bytes over the same ring. */
  echo("ring-echo"),
  /** The memory of the index, read by the client. */
  direct("ringfetch-direct"),
  /** The memory of the ordered index, read by the client. */
  orderedDirect("ringfetch-ordered-direct"),
  /** A map of the server's, by plain gRPC over TCP. */
  grpc("grpc-map"),
  /** Chronicle Map: a file that processes map. */
  chronicle("chronicle-map"),
  /** LMDB: a file that processes map. */
  lmdb("lmdb"),
  /** Redis at a Unix socket. */
  redis("redis"),
  /** Redis at a Unix socket, with its keys in a sorted set besides. */
  redisSorted("redis-sorted"),
  /** Memcached at a Unix socket. */
  memcached("memcached");

  /** Those that have entries of their own, in the order in which they are loaded. */
  static final List<StoreSide> LOADED =
      List.of(ringfetch, ordered, grpc, chronicle, lmdb, redis, redisSorted, memcached);

  private final String text;

  StoreSide(String text) {
    this.text = text;
  }

  /** For tables and scripts. */
  String text() {
    return text;
  }

  /** The side that has to take part for this one to: it has the entries. */
  StoreSide needs() {
    return switch (this) {
      case direct -> ringfetch;
      case orderedDirect -> ordered;
      default -> this;
    };
  }
}
