package dev.ringfetch.rdma.faults;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.rdma.natives.RdmaAssumptions;
import dev.ringfetch.system.Await;
import io.grpc.ManagedChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A client that reads a leader's memory, and the gates of all members, over a device. */
@Tag("verbs")
@Tag("slow")
@Timeout(900)
final class LeaderReadTest {
  private static final String NAME = "counter";
  private static final int NODES = 3;

  /** Direct reads under the first leader, and again so many under the next one. */
  private static final int READS = 200;

  private static final int WAIT_S = 240;
  private static final Duration CALL = Duration.ofSeconds(60);

  @TempDir private Path directory;

  private final AtomicLong acknowledged = new AtomicLong();
  private final DirectValue value = new DirectValue();
  private volatile boolean stopped;
  private volatile Exception failure;
  private long last;

  @Test
  void noReadGoesBackWhenTheLeaderIsKilled() throws Exception {
    RdmaAssumptions.assumeDevice();
    try (NodeProcesses nodes = new NodeProcesses(directory, NODES, "auto");
        FailOverSteps steps = new FailOverSteps(nodes.addresses())) {
      final String leader = steps.place(null);
      final HashIndex<String, Long> index = steps.index();
      index.put(NAME, 0L);
      final Thread writer = new Thread(() -> write(index));
      final ManagedChannel channel =
          IndexClient.builder().target(String.join(",", nodes.addresses())).buildChannel();
      try (DirectReader reader =
          DirectReader.open(
              channel, index.name(), new DirectContext().fabrics("verbs").timeout(CALL))) {
        Await.until("a direct read", WAIT_S, () -> get(reader) && reader.directReads() > 0);
        System.out.printf(
            "us, medians of %d: get directly %d, get by call %d, put %d%n",
            READS,
            medianUs(() -> get(reader)),
            medianUs(() -> index.get(NAME)),
            medianUs(() -> index.put(NAME, 0L)));
        writer.start();
        read(reader, "the first leader");
        nodes.kill(leader);
        final long turns = reader.turns();
        Await.until("the end of the grant", WAIT_S, () -> get(reader) && reader.turns() > turns);
        System.out.println("leader killed: " + reader.obstacle());
        read(reader, "the next leader");
      } finally {
        stopped = true;
        writer.join();
        channel.shutdownNow();
      }
      if (failure != null) {
        throw failure;
      }
    }
  }

  private static long medianUs(Runnable operation) {
    final long[] tookNs = new long[READS];
    for (int i = 0; i < READS; i++) {
      final long beginNs = System.nanoTime();
      operation.run();
      tookNs[i] = System.nanoTime() - beginNs;
    }
    Arrays.sort(tookNs);
    return TimeUnit.NANOSECONDS.toMicros(tookNs[READS / 2]);
  }

  private void write(HashIndex<String, Long> index) {
    try {
      for (long next = 1; !stopped; next++) {
        index.put(NAME, next);
        acknowledged.set(next);
      }
    } catch (RuntimeException e) {
      failure = e;
    }
  }

  /** Reads until so many reads were direct. */
  private void read(DirectReader reader, String of) throws Exception {
    final long before = reader.directReads();
    final long beginNs = System.nanoTime();
    final long from = last;
    Await.until(
        "direct reads of " + of,
        WAIT_S,
        () -> get(reader) && reader.directReads() - before >= READS);
    System.out.printf(
        "%s: %d direct reads and %d by calls so far, in %d ms, from %d to %d%n",
        of, reader.directReads(), reader.callReads(), Await.millisSince(beginNs), from, last);
    assertTrue(last > from, "values change");
  }

  /** Reads the value, which is not older than what was acknowledged or read before. */
  private boolean get(DirectReader reader) {
    final long floor = Math.max(last, acknowledged.get());
    assertTrue(reader.get(ByteString.copyFromUtf8(NAME), value), reader::obstacle);
    last = Codec.int64().decode(value.value());
    assertTrue(last >= floor, "read=" + last + " floor=" + floor);
    return true;
  }
}
