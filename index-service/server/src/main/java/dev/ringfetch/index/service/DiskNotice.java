package dev.ringfetch.index.service;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The lines in the log that a disk has no room or exceeds its quota, and that this has ended: one
 * for each.
 *
 * <p>{@link #accept} on the journal's thread only, {@link #quota} on that of snapshots.
 */
final class DiskNotice implements Consumer<IOException> {
  private final Logger logger;
  private final LongSupplier nanoClock;
  private final String data;
  private long sinceNs;

  DiskNotice(Logger logger, LongSupplier nanoClock, String data) {
    this.logger = logger;
    this.nanoClock = nanoClock;
    this.data = data;
  }

  /** Takes why the quota of the directory refuses puts; null: it does not any more. */
  void quota(@Nullable IOException exceeded) {
    if (exceeded == null) {
      logger.log(
          Level.INFO, "the data directory is below its quota again, puts go on: data=" + data);
    } else {
      logger.log(Level.WARNING, exceeded.getMessage() + ": data=" + data);
    }
  }

  /** Takes why there is no room; null: there is. */
  @Override
  public void accept(IOException obstacle) {
    if (obstacle == null) {
      final long seconds = TimeUnit.NANOSECONDS.toSeconds(nanoClock.getAsLong() - sinceNs);
      logger.log(Level.INFO, "the disk has room again, after " + seconds + " s: data=" + data);
    } else {
      sinceNs = nanoClock.getAsLong();
      logger.log(
          Level.WARNING,
          "the disk is full, or refuses writes: what is on it takes no more writes when the room"
              + " left in the journal is used up; make room: data="
              + data
              + ": "
              + obstacle.getMessage());
    }
  }
}
