package dev.ringfetch.examples.kafka;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.common.utils.Utils;

/**
 * The choice of a partition for the records of a topic: by Kafka's hash of the key; without a key
 * the same one until the bytes of a batch are full, then another at random.
 */
final class StickyPartitions {
  private final int stickyBytes;

  @GuardedBy("this")
  private int current = -1;

  @GuardedBy("this")
  private long bytes;

  /** Creates a choice that changes after so many bytes without keys. */
  StickyPartitions(int stickyBytes) {
    this.stickyBytes = stickyBytes;
  }

  /** The partition of a key, as Kafka's producers compute it. */
  static int ofKey(byte[] key, int partitions) {
    return Utils.toPositive(Utils.murmur2(key)) % partitions;
  }

  /** The partition of a record without a key. */
  synchronized int next(int length, int partitions) {
    if (current < 0 || current >= partitions || bytes >= stickyBytes) {
      final int previous = current;
      current = ThreadLocalRandom.current().nextInt(partitions);
      if (current == previous) {
        current = (current + 1) % partitions;
      }
      bytes = 0;
    }
    bytes += length;
    return current;
  }
}
