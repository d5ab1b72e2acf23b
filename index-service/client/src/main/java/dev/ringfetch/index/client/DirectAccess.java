package dev.ringfetch.index.client;

import dev.ringfetch.index.direct.DirectContext;
import io.grpc.Channel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The direct reads of a client, by index and timeout. Safe for use by many threads.
 *
 * <p>Views whose timeouts have the same power of two above them share readers: a program may give
 * each view what is left of its own deadline.
 */
final class DirectAccess implements AutoCloseable {
  /** Those that wait and those that do not differ in their fabrics, so share no readers. */
  private record Key(String index, long timeoutNs, boolean waits) {
    static Key of(String index, long timeoutNs, boolean waits) {
      final long below = Long.highestOneBit(timeoutNs);
      return new Key(index, below == timeoutNs ? below : Math.max(below, below << 1), waits);
    }
  }

  private static final String MAPPING = "shm"; // the fabric

  private final Channel channel;
  private final Path shmDirectory; // null: the default
  private final ClientMetrics metrics;
  private final Map<Key, DirectReads> reads = new ConcurrentHashMap<>();

  DirectAccess(Channel channel, Path shmDirectory, ClientMetrics metrics) {
    this.channel = channel;
    this.shmDirectory = shmDirectory;
    this.metrics = metrics;
  }

  /** The direct reads of an index, which take no longer than a timeout. */
  DirectReads of(String index, long timeoutNs) {
    return of(
        Key.of(index, timeoutNs, true),
        new DirectContext().grantWait(Duration.ofNanos(timeoutNs / 2)));
  }

  /**
   * The direct reads of an index that do not wait: neither for a grant, nor for the round trips of
   * a fabric that maps no memory.
   */
  DirectReads unwaiting(String index, long timeoutNs) {
    return of(
        Key.of(index, timeoutNs, false),
        new DirectContext().grantWait(Duration.ZERO).fabrics(MAPPING));
  }

  private DirectReads of(Key key, DirectContext context) {
    return reads.computeIfAbsent(
        key, missing -> new DirectReads(channel, key.index, with(key.timeoutNs, context), metrics));
  }

  private DirectContext with(long timeoutNs, DirectContext context) {
    context.timeout(Duration.ofNanos(timeoutNs));
    return shmDirectory == null ? context : context.shmDirectory(shmDirectory);
  }

  @Override
  public void close() {
    reads.values().forEach(DirectReads::close);
  }
}
