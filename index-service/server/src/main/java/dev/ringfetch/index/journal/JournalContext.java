package dev.ringfetch.index.journal;

import dev.ringfetch.index.v1.Durability;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.agrona.ErrorHandler;

/** Options of a journal. Setters return this. */
public final class JournalContext {
  /** Default length of a segment. */
  public static final int SEGMENT_LENGTH_DEFAULT = 32 << 20;

  /** Default of {@link #interval}. */
  public static final Duration INTERVAL_DEFAULT = Duration.ofMillis(10);

  /** Two segments have fewer records than {@link Journal#LOST_LIMIT}. */
  private static final int SEGMENT_LENGTH_MAX = 48 << 20;

  int segmentLength = SEGMENT_LENGTH_DEFAULT;
  long intervalNs = INTERVAL_DEFAULT.toNanos();
  long origin;
  long epoch;
  OwnerCheck owner = () -> {};
  ErrorHandler errors = failure -> {};
  LongSupplier clock = System::nanoTime;
  SyncListener syncs = (durationNs, records, bytes) -> {};
  Consumer<IOException> obstacles = obstacle -> {};
  DiskQuota quota = DiskQuota.NONE;
  RecoveryProgress progress = (bytes, total, records) -> {};

  /** Creates the defaults. */
  public JournalContext() {}

  /** Sets the length of new segments in bytes, from 4 to 48 MiB. */
  public JournalContext segmentLength(int bytes) {
    if (bytes < SegmentWriter.LENGTH_MIN
        || bytes > SEGMENT_LENGTH_MAX
        || bytes % RecordDescriptor.ALIGNMENT != 0) {
      throw new IllegalArgumentException("segmentLength=" + bytes);
    }
    segmentLength = bytes;
    return this;
  }

  /** Sets how long a record of {@link Durability#INTERVAL} may wait for its sync to begin. */
  public JournalContext interval(long ns) {
    if (ns < 0) {
      throw new IllegalArgumentException("intervalNs=" + ns);
    }
    intervalNs = ns;
    return this;
  }

  /** Sets the first 64 bits of the directory's id, and the epoch of this server. */
  public JournalContext owner(long directoryOrigin, long serverEpoch) {
    origin = directoryOrigin;
    epoch = serverEpoch;
    return this;
  }

  /** Sets the check before each write and before each answer; on any thread. */
  public JournalContext ownerCheck(OwnerCheck check) {
    owner = check;
    return this;
  }

  /** Sets the receiver of the progress of the recovery. */
  public JournalContext progress(RecoveryProgress told) {
    progress = told;
    return this;
  }

  /** Sets the listener of syncs, and the clock that measures them, in nanoseconds. */
  public JournalContext syncs(SyncListener listener, LongSupplier nanoClock) {
    syncs = listener;
    clock = nanoClock;
    return this;
  }

  /**
   * Sets the receiver of obstacles: called on the journal's thread with the reason when the next
   * segment cannot be created, and with null when there is one again.
   */
  public JournalContext obstacles(Consumer<IOException> told) {
    obstacles = told;
    return this;
  }

  /** Sets the quota of the directory. */
  public JournalContext quota(DiskQuota ofDirectory) {
    quota = ofDirectory;
    return this;
  }

  /** Sets the receiver of the journal's failure: called once, on the journal's thread. */
  public JournalContext errors(ErrorHandler handler) {
    errors = handler;
    return this;
  }
}
