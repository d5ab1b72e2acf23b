package dev.ringfetch.index.journal;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The quota of a data directory: measures the bytes of its files each second, and tells whether
 * writes that add bytes are refused. All else goes on: a snapshot may exceed the quota by its
 * length, as only the next one after a delete frees room. It does not count until the files go that
 * it makes needless: else the server's own snapshots would end puts.
 *
 * <table>
 *   <caption>States</caption>
 *   <tr><th>state<th>next
 *   <tr><td>BELOW<td>NEAR: at 7/8 of the quota; EXCEEDED: at the quota
 *   <tr><td>NEAR, which asks for snapshots<td>BELOW: below 7/8; EXCEEDED: at the quota
 *   <tr><td>EXCEEDED, which also refuses<td>BELOW: below 7/8
 * </table>
 *
 * <p>An eighth lies between the end of the refusals and their next begin, as two snapshots may be
 * taken meanwhile, for which the files are at most 7/8 of the quota: with less between, they would
 * write more than seven bytes for each byte of journal.
 *
 * <p>The thread of snapshots looks; any thread asks.
 */
public final class DiskQuota {
  private static final Logger LOGGER = System.getLogger(DiskQuota.class.getName());

  /** The smallest quota: the segments that are always there, twice. */
  public static final long MIN = 256L << 20;

  /** No quota. */
  static final DiskQuota NONE = new DiskQuota(() -> 0, 0, System::nanoTime, reason -> {});

  private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(1);

  private enum State {
    BELOW,
    NEAR,
    EXCEEDED;

    State next(long bytes, long limit) {
      if (bytes >= limit) {
        return EXCEEDED;
      }
      return bytes < limit / 8 * 7 ? BELOW : this == EXCEEDED ? EXCEEDED : NEAR;
    }
  }

  /** Measures a directory. */
  @FunctionalInterface
  public interface Measure {
    /** The bytes of all files. */
    long bytes() throws IOException;
  }

  private final Measure measure;
  private final long limit;
  private final JournalObstacle obstacle;
  private volatile long bytes;

  // Of the thread that looks.
  private State state = State.BELOW;
  private long lookedNs;
  private boolean hasLooked;
  private boolean isBlind; // the last look has failed

  /**
   * Creates the quota of a directory.
   *
   * @param measure of the directory
   * @param limit in bytes; 0: there is no quota
   * @param clock in nanoseconds
   * @param listener is called with the reason when writes begin to be refused, and then with null
   */
  public DiskQuota(
      Measure measure, long limit, LongSupplier clock, Consumer<IOException> listener) {
    this.measure = measure;
    this.limit = limit;
    obstacle = new JournalObstacle(clock, listener);
  }

  /**
   * Measures the files, if that is due. A failure is logged, and changes nothing.
   *
   * @param uncounted bytes of snapshots that make other files needless, but not yet
   */
  void look(long nowNs, long uncounted) {
    if (limit == 0 || (hasLooked && nowNs - lookedNs < LOOK_NS)) {
      return;
    }
    hasLooked = true;
    lookedNs = nowNs;
    final long measured;
    try {
      measured = measure.bytes() - uncounted;
      isBlind = false;
    } catch (IOException | RuntimeException e) { // of a listing, also unchecked
      if (!isBlind) {
        LOGGER.log(Level.WARNING, "the files of the data directory could not be measured", e);
      }
      isBlind = true;
      return;
    }
    bytes = measured;
    state = state.next(measured, limit);
    obstacle.set(
        state == State.EXCEEDED
            ? new IOException(
                String.format(
                    "the data directory exceeds its quota: bytes=%d --disk-quota=%d; delete entries"
                        + " or drop indexes, or raise the quota; puts go on below bytes=%d",
                    measured, limit, limit / 8 * 7))
            : null);
  }

  /** In bytes; 0: there is no quota. */
  public long limit() {
    return limit;
  }

  /** The bytes that count, at most a second ago; 0 without a quota. */
  public long bytes() {
    return bytes;
  }

  /** Whether snapshots are taken early, as they may free room. The thread that looks. */
  boolean isNear() {
    return state != State.BELOW;
  }

  /** Whether writes that add bytes are refused. */
  public boolean isExceeded() {
    return reason() != null;
  }

  /** Why such writes are refused; null: they are not. */
  public @Nullable IOException reason() {
    return obstacle.reason();
  }

  JournalObstacle obstacle() {
    return obstacle;
  }
}
