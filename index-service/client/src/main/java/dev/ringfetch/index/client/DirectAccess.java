package dev.ringfetch.index.client;

import dev.ringfetch.index.direct.DirectContext;
import io.grpc.Channel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The direct reads of a client, by index and timeout. Safe for use by many threads. */
final class DirectAccess implements AutoCloseable {
  private record Key(String index, long timeoutNs) {}

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
    return reads.computeIfAbsent(
        new Key(index, timeoutNs),
        key -> new DirectReads(channel, index, context(timeoutNs), metrics));
  }

  private DirectContext context(long timeoutNs) {
    final DirectContext context =
        new DirectContext()
            .timeout(Duration.ofNanos(timeoutNs))
            .grantWait(Duration.ofNanos(timeoutNs / 2));
    return shmDirectory == null ? context : context.shmDirectory(shmDirectory);
  }

  @Override
  public void close() {
    reads.values().forEach(DirectReads::close);
  }
}
