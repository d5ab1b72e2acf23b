package dev.ringfetch.index.replication;

/** A hunt for worlds that fail: one after the other, from a seed on. */
final class ReplicationHunt {
  /** Runs the world of a seed; what it throws names the seed. */
  @FunctionalInterface
  interface World {
    void run(long seed, Coverage coverage);
  }

  private ReplicationHunt() {}

  /**
   * Runs worlds, and then ends the JVM: with 1 if one has failed.
   *
   * @param arguments first seed, else the clock's; number of worlds, else until it is killed
   */
  static void run(String[] arguments, World world) {
    final long first = arguments.length > 0 ? Long.parseLong(arguments[0]) : System.nanoTime();
    final long last = arguments.length > 1 ? first + Long.parseLong(arguments[1]) : Long.MAX_VALUE;
    final Coverage coverage = new Coverage();
    int failed = 0;
    for (long seed = first; seed < last; seed++) {
      try {
        world.run(seed, coverage);
      } catch (AssertionError e) {
        failed++;
        e.printStackTrace(System.out);
      }
      if ((seed - first) % 200 == 199) {
        System.out.printf(
            "seed=%d worlds=%d failed=%d %s%n", first, seed - first + 1, failed, coverage);
      }
    }
    System.out.printf("seed=%d worlds=%d failed=%d %s%n", first, last - first, failed, coverage);
    System.exit(failed == 0 ? 0 : 1);
  }
}
