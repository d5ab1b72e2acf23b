package dev.ringfetch.index.client;

import java.time.Duration;

/**
 * A program that holds a lock as often as it can, and writes under it. Its arguments are the port
 * of the server and its name. It prints "held FENCE" and "lost FENCE", a line each.
 */
public final class LockHolder {
  /** Time to live of the lock. */
  static final Duration TTL = Duration.ofSeconds(2);

  /** The lock. */
  static final String LOCK = "leader";

  /** The index of the entry that is written under the lock: the largest fence that it has seen. */
  static final String WORK = "work";

  private LockHolder() {}

  /** Runs the program, until it is killed. */
  public static void main(String[] args) {
    try (IndexClient client =
        IndexClient.builder()
            .target("localhost:" + args[0])
            .deadline(Duration.ofSeconds(30))
            .build()) {
      final HashIndex<String, Long> work = client.hash(WORK, Codec.string(), Codec.int64());
      final IndexLock lock = client.lock(LOCK).ttl(TTL).holder(args[1]);
      while (true) {
        final LockHold hold = lock.acquire(Duration.ofMinutes(10)).orElseThrow();
        System.out.println("held " + hold.fence());
        while (hold.isHeld()) {
          write(work, hold.fence());
        }
        hold.lost().toCompletableFuture().join();
        System.out.println("lost " + hold.fence());
      }
    }
  }

  /** Writes as the holder, unless a later holder has written. */
  private static void write(HashIndex<String, Long> work, long fence) {
    try {
      work.update(
          "entry",
          seen -> {
            if (seen.orElse(0L) > fence) {
              throw new IllegalArgumentException("fence=" + fence + " is below " + seen.get());
            }
            return fence;
          });
    } catch (IllegalArgumentException e) {
      System.out.println("refused " + fence);
    }
  }
}
