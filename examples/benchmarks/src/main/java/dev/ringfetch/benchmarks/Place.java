package dev.ringfetch.benchmarks;

import java.util.List;

/** The part of the machine that a peer of {@link BusyBench} has, and the neighbours beside it. */
enum Place {
  /** Every processor, and no neighbour. */
  quiet(Limit.none, 0),
  /** Beside one busy thread. */
  oneLoop(Limit.none, 1),
  /** Beside two busy threads. */
  twoLoops(Limit.none, 2),
  /** Half a core of processor time for both processes together. */
  quota(Limit.quota, 0),
  /** One processor for both processes. */
  processor(Limit.processor, 0);

  /** The limit of a peer's processes, which holds as long as they run. */
  enum Limit {
    none,
    /** See {@link CpuQuota}. */
    quota,
    /** One processor, by {@code taskset}. */
    processor;

    /** JVM flags: a JVM that starts inside the limit would see one processor. */
    List<String> flags() {
      return this == none ? List.of() : List.of("-XX:ActiveProcessorCount=1");
    }

    /** Those with this limit. */
    List<Place> of(List<Place> places) {
      return places.stream().filter(place -> place.limit == this).toList();
    }
  }

  private final Limit limit;
  private final int neighbours;

  Place(Limit limit, int neighbours) {
    this.limit = limit;
    this.neighbours = neighbours;
  }

  /** Number of busy threads of other processes. */
  int neighbours() {
    return neighbours;
  }
}
