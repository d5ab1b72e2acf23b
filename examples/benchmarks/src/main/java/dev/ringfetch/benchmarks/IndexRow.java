package dev.ringfetch.benchmarks;

import static dev.ringfetch.benchmarks.StoreSide.chronicle;
import static dev.ringfetch.benchmarks.StoreSide.direct;
import static dev.ringfetch.benchmarks.StoreSide.echo;
import static dev.ringfetch.benchmarks.StoreSide.grpc;
import static dev.ringfetch.benchmarks.StoreSide.lmdb;
import static dev.ringfetch.benchmarks.StoreSide.memcached;
import static dev.ringfetch.benchmarks.StoreSide.ordered;
import static dev.ringfetch.benchmarks.StoreSide.orderedDirect;
import static dev.ringfetch.benchmarks.StoreSide.redis;
import static dev.ringfetch.benchmarks.StoreSide.redisSorted;
import static dev.ringfetch.benchmarks.StoreSide.ringfetch;

import dev.ringfetch.benchmarks.stores.Mix;
import java.util.List;

/** The rows of {@link IndexBench}, in the order in which they are measured. */
enum IndexRow {
  /** All entries, in batches. */
  load("load", Mix.put, 1, false, StoreSide.LOADED),
  /** Bytes that an entry takes. */
  memory("memory", Mix.get, 1, false, StoreSide.LOADED),
  /** Get by calls, one at a time. */
  get("get", Mix.get, 1, true, List.of(ringfetch, ordered, echo, grpc, redis, memcached)),
  /** Put, one at a time; of mapped files without a call. */
  put(
      "put",
      Mix.put,
      1,
      true,
      List.of(ringfetch, ordered, echo, grpc, redis, memcached, chronicle, lmdb)),
  /** Get from mapped memory, each one timed. */
  directGet("direct-get", Mix.get, 1, true, List.of(direct, orderedDirect, chronicle, lmdb)),
  /** Same, without a look at the clock for each. */
  directRate1("direct-get-1-thread", Mix.get, 1, false, List.of(direct, chronicle, lmdb)),
  /** Same, by two threads. */
  directRate2("direct-get-2-threads", Mix.get, 2, false, List.of(direct, chronicle, lmdb)),
  /** Get from mapped memory while another process writes. */
  directBesideWrites(
      "direct-get-beside-writes", Mix.get, 1, true, List.of(direct, chronicle, lmdb)),
  /** YCSB's workload A by calls. */
  ycsbA("ycsb-a", Mix.a, IndexRow.YCSB_THREADS, true, List.of(ringfetch, grpc, redis, memcached)),
  /** YCSB's workload B by calls. */
  ycsbB("ycsb-b", Mix.b, IndexRow.YCSB_THREADS, true, List.of(ringfetch, grpc, redis, memcached)),
  /** YCSB's workload C by calls. */
  ycsbC("ycsb-c", Mix.c, IndexRow.YCSB_THREADS, true, List.of(ringfetch, grpc, redis, memcached)),
  /** YCSB's workload C from mapped memory. */
  ycsbCDirect(
      "ycsb-c-direct", Mix.c, IndexRow.YCSB_THREADS, false, List.of(direct, chronicle, lmdb)),
  /** Scans of 100 entries, one at a time: by calls, and from mapped memory. */
  scan("scan", Mix.scan, 1, true, List.of(ordered, redisSorted, orderedDirect, lmdb)),
  /** YCSB's workload E: by calls, and by scans of mapped memory beside inserts by calls. */
  ycsbE(
      "ycsb-e",
      Mix.e,
      IndexRow.YCSB_THREADS,
      true,
      List.of(ordered, redisSorted, orderedDirect, lmdb)),
  /** The growth of an index, in a server of its own. */
  growth("growth", Mix.get, 1, true, List.of(ringfetch));

  /** Threads of YCSB's workloads. */
  static final int YCSB_THREADS = 8;

  private final String text;
  private final Mix mix;
  private final int threads;
  private final boolean timed;

  @SuppressWarnings("ImmutableEnumChecker") // of List.of
  private final List<StoreSide> sides;

  IndexRow(String text, Mix mix, int threads, boolean timed, List<StoreSide> sides) {
    this.text = text;
    this.mix = mix;
    this.threads = threads;
    this.timed = timed;
    this.sides = sides;
  }

  /** For tables and scripts. */
  String text() {
    return text;
  }

  Mix mix() {
    return mix;
  }

  int threads() {
    return threads;
  }

  /** Whether each operation is timed. */
  boolean isTimed() {
    return timed;
  }

  /** Those that take part. */
  List<StoreSide> sides() {
    return sides;
  }

  /** Whether rounds of operations make up the row. */
  boolean isOfRounds() {
    return this != load && this != memory && this != growth;
  }

  @Override
  public String toString() {
    return text;
  }
}
