package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** Channels that are dropped without a shutdown. */
final class OrphanTest extends RingFixture {
  private static final int CHANNELS = 20;

  @Test
  void areCollectedAndWarnedOf() throws Exception {
    final RingServer server = serve(Bytes.digesting());
    final Warnings warnings = new Warnings();
    final Logger logger = Logger.getLogger(RingChannel.class.getName());
    logger.addHandler(warnings);
    try {
      final List<WeakReference<RingChannel>> dropped = new ArrayList<>();
      for (int i = 0; i < CHANNELS; i++) {
        dropped.add(drop(i % 2 == 0));
      }
      await(
          "collected",
          () -> {
            collect();
            return dropped.stream().allMatch(channel -> channel.get() == null);
          });
      await("sessions", () -> server.sessionCount() == 0);
      await("warnings", () -> warnings.count() == CHANNELS);
      final RingChannel kept = builder().build();
      kept.shutdownNow();
      assertTerminates(kept);
      collect();
      assertEquals(CHANNELS, warnings.count());
    } finally {
      logger.removeHandler(warnings);
    }
  }

  /** A channel that was used or was not; nothing here refers to it any more. */
  private WeakReference<RingChannel> drop(boolean used) throws Exception {
    final RingChannel channel = builder().build();
    if (used) {
      assertEquals(3, call(channel, 3).length);
      assertTrue(channel.awaitRing().get().isOpen());
      assertEquals(3, call(channel, 3).length);
    }
    return new WeakReference<>(channel);
  }

  private static void collect() {
    System.gc();
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static final class Warnings extends Handler {
    private final List<LogRecord> records = new CopyOnWriteArrayList<>();

    long count() {
      return records.stream()
          .filter(record -> record.getMessage().contains("was not shutdown properly"))
          .filter(record -> record.getLevel().equals(Level.SEVERE) && record.getThrown() != null)
          .count();
    }

    @Override
    public void publish(LogRecord record) {
      records.add(record);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
