package dev.ringfetch.index.journal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.index.disk.Disk;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The snapshots of a journal: writes one after a number of bytes of journal, or on request, and
 * then removes files that are no longer needed: all snapshots except the newest two, and segments
 * before the begin of the older of these. While there is only one snapshot, all segments stay. So
 * there are always two ways to recover each entry.
 *
 * <p>A duty cycle: one thread, not the journal's, calls {@link #work} again and again. It does not
 * stop writers or the journal: it reads the journal's position once, and asks the owners of
 * partitions for their entries.
 *
 * <table>
 *   <caption>States</caption>
 *   <tr><th>state<th>next
 *   <tr><td>IDLE<td>WRITING: enough was written, or a snapshot was asked for
 *   <tr><td>WRITING<td>AWAITING: all was added; IDLE: it failed, or is not to go on
 *   <tr><td>AWAITING<td>TRIMMING: the journal was durable, and the snapshot is there; IDLE as before
 *   <tr><td>TRIMMING<td>IDLE: nothing is left to be removed
 *   <tr><td>any<td>CLOSED
 * </table>
 *
 * <p>A server that has recovered from a snapshot begins with TRIMMING: its predecessor may have
 * ended between a snapshot and its removals, and on a full disk no snapshot follows.
 *
 * <p>A snapshot that fails, on a full disk for example, frees its room and is tried again later;
 * {@link #obstacle} has the reason. The journal continues. If the journal finds no room for its
 * next segment, the snapshot under way also ends, so that the journal gets the room first.
 */
public final class SnapshotCycle {
  private static final Logger LOGGER = System.getLogger(SnapshotCycle.class.getName());

  /** Default minimum of bytes of journal between two snapshots. */
  public static final long AFTER_DEFAULT = 256L << 20;

  /** Pause after the first failure; each further failure doubles it, up to the limit. */
  static final long RETRY_NS = TimeUnit.SECONDS.toNanos(1);

  static final long RETRY_LIMIT_NS = TimeUnit.MINUTES.toNanos(1);

  /** Pause while owners or the journal must make progress first. */
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Interval of checks whether enough was written. */
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * Least pause after two snapshots that a quota asks for, as a multiple of the time that the
   * second one took: while a server refuses puts, about a fifth of its disk's time is for snapshots
   * at most. There is none between the two, as only the second one frees what was removed.
   */
  private static final int QUOTA_PAUSE = 9;

  /** Limit of steps of a source without a sync; together they add less than a batch. */
  private static final int SOURCE_STEPS = 64;

  private enum State {
    IDLE,
    WRITING,
    AWAITING,
    TRIMMING,
    CLOSED
  }

  /** A listener of the end of a requested snapshot, called on the cycle's thread. */
  public interface Listener {
    /** Called when the snapshot is complete. */
    void onSnapshot(Taken snapshot);

    /** Called with the reason when the snapshot has failed. */
    void onFailure(IOException failure);
  }

  /**
   * A complete snapshot.
   *
   * @param number of the snapshot
   * @param begin position from which a start reads the journal after it
   * @param length of its file in bytes
   * @param records in it
   */
  public record Taken(long number, long begin, long length, long records) {}

  private final Journal journal;
  private final Disk disk;
  private final SnapshotSource source;
  private final long after;
  private final Batch batch = new Batch();
  private volatile State state = State.IDLE;
  private volatile IOException obstacle;
  private volatile Taken newest;
  private final AtomicLong taken = new AtomicLong();

  /** Listeners whose snapshot has not begun. */
  @GuardedBy("asking")
  private final List<Listener> asking = new ArrayList<>();

  // Of the cycle's thread.
  private final List<Listener> answered = new ArrayList<>();
  private SnapshotWriter writer;
  private long begin;
  private Taken older;
  private long nextNumber;
  private long retryNs;
  private long retryDelayNs;

  // Of snapshots that the quota asks for.
  private long beginNs;
  private long quotaNs; // when the next one may begin
  private boolean isFirst; // whether the last one was the first of two

  /** Whether the former server may have left files that are not needed. */
  private boolean hasLeftovers;

  /** Whether the source was notified of the removal of segments. */
  private boolean announced;

  /**
   * Creates the cycle of a journal.
   *
   * @param disk the same directory; used by the cycle's thread alone
   * @param after bytes of journal after which a snapshot is taken; 0: {@link #AFTER_DEFAULT}, or
   *     twice the length of the last snapshot if that is more
   */
  public SnapshotCycle(Journal journal, Disk disk, SnapshotSource source, long after) {
    if (after < 0) {
      throw new IllegalArgumentException("after=" + after);
    }
    this.journal = journal;
    this.disk = disk;
    this.source = source;
    this.after = after;
    final SnapshotChoice found = journal.recoveredFrom();
    nextNumber = found.newestNumber() + 1;
    final SnapshotFile recovered = found.snapshot();
    if (recovered != null) {
      newest =
          new Taken(recovered.number(), recovered.begin(), recovered.length(), recovered.records());
      hasLeftovers = true;
      state = State.TRIMMING;
    }
  }

  /**
   * Requests a snapshot of everything answered before. Any thread; the caller wakes the cycle's
   * thread.
   */
  public void ask(Listener listener) {
    synchronized (asking) {
      if (state != State.CLOSED) {
        asking.add(listener);
        return;
      }
    }
    listener.onFailure(new IOException("the server ends"));
  }

  private boolean isAsked() {
    synchronized (asking) {
      return !asking.isEmpty();
    }
  }

  /** The failure of the last attempt, or null. Any thread. */
  public @Nullable IOException obstacle() {
    return obstacle;
  }

  /** The newest complete snapshot, or null. Any thread. */
  public @Nullable Taken newest() {
    return newest;
  }

  /** Number of snapshots taken by this cycle. Any thread. */
  public long taken() {
    return taken.get();
  }

  /**
   * Does one bounded step of the due work.
   *
   * @param nowNs the present time, of a clock that never goes back
   * @return nanoseconds until there is more to do, 0 if there is now
   */
  public long work(long nowNs) {
    try {
      if (state != State.TRIMMING) { // files that are removed at this moment do not count
        journal.quota().look(nowNs, uncounted());
      }
      return switch (state) {
        case IDLE -> idle(nowNs);
        case WRITING -> write();
        case AWAITING -> complete(nowNs);
        case TRIMMING -> trim();
        case CLOSED -> Long.MAX_VALUE;
      };
    } catch (IOException e) {
      fail(e, nowNs);
    } catch (RuntimeException | OutOfMemoryError e) { // the next attempt may succeed
      fail(new IOException("a snapshot has failed: " + e, e), nowNs);
    }
    return LOOK_NS;
  }

  /**
   * Bytes of snapshots that do not count against the quota: of the one that is written, as the
   * oldest one goes when it is complete; and of a directory's first, as its journal goes with the
   * second.
   */
  private long uncounted() {
    return (writer == null ? 0 : writer.length())
        + (older == null && taken.get() > 0 ? newest.length() : 0);
  }

  private long idle(long nowNs) throws IOException {
    final boolean asked = isAsked();
    if (!asked && (!isEnough(nowNs) || (retryDelayNs != 0 && nowNs - retryNs < 0))) {
      return LOOK_NS;
    }
    synchronized (asking) {
      answered.addAll(asking);
      asking.clear();
    }
    if (journal.isFailed()) {
      throw new IOException("the journal has failed");
    }
    // First: records that are appended after the source has begun are behind this position.
    begin = journal.durable();
    beginNs = nowNs;
    source.begin();
    writer = SnapshotWriter.create(disk, batch, journal, nextNumber, begin);
    become(State.WRITING);
    return 0;
  }

  private boolean isEnough(long nowNs) {
    final Taken last = newest;
    if (journal.quota().isNear() && nowNs - quotaNs >= 0) {
      return older == null || older.begin() != journal.durable(); // it has what was removed
    }
    final long since = journal.durable() - (last == null ? 0 : last.begin());
    if (after != 0) {
      return since >= after;
    }
    return since >= Math.max(AFTER_DEFAULT, last == null ? 0 : 2 * last.length());
  }

  /** Ends a snapshot that must not continue. */
  private void check() throws IOException {
    journal.checkOwner();
    if (journal.isFailed()) {
      throw new IOException("the journal has failed");
    }
    final IOException full = journal.shortage();
    if (full != null) {
      throw new IOException("the journal needs the room: " + full.getMessage(), full);
    }
  }

  private long write() throws IOException {
    check();
    for (int i = 0; i < SOURCE_STEPS && !writer.isFull(); i++) {
      switch (source.add(writer)) {
        case MORE -> {}
        case WAITING -> {
          return POLL_NS;
        }
        case DONE -> {
          writer.endStep();
          become(State.AWAITING);
          return 0;
        }
      }
    }
    writer.endStep();
    return 0;
  }

  private long complete(long nowNs) throws IOException {
    check();
    if (!source.isDurable()) {
      return POLL_NS;
    }
    // After the check: everything that the check has seen is durable up to here.
    writer.finish(journal.durable());
    isFirst = journal.quota().isNear() && !isFirst;
    quotaNs = nowNs + (isFirst ? 0 : QUOTA_PAUSE * (nowNs - beginNs));
    older = newest;
    newest = new Taken(writer.number(), begin, writer.length(), writer.records());
    writer = null;
    nextNumber++;
    taken.incrementAndGet();
    obstacle = null;
    retryDelayNs = 0;
    announced = false;
    become(State.TRIMMING);
    final Taken told = newest;
    tell(listener -> listener.onSnapshot(told));
    return 0;
  }

  /** Removes one file that is not needed any more. */
  private long trim() throws IOException {
    if (hasLeftovers) {
      hasLeftovers = false;
      older = left();
    }
    final String unneeded = unneeded();
    if (unneeded == null) {
      become(State.IDLE);
      return isAsked() ? 0 : LOOK_NS;
    }
    if (!announced && SegmentDescriptor.number(unneeded) >= 0) {
      announced = true;
      source.removing();
      return 0;
    }
    journal.checkOwner(); // the file may belong to a later owner
    disk.delete(unneeded);
    // Before the next removal: a loss of power must leave no gaps.
    disk.syncDirectory();
    return 0;
  }

  /**
   * The snapshot before the one from which the server has recovered, if it is whole and older files
   * are left; else null. Reads it only if older files are left.
   */
  private Taken left() throws IOException {
    String name = null;
    int count = 0;
    for (final String file : disk.list()) {
      final long number = SnapshotDescriptor.number(file);
      if (number >= 0 && number < newest.number()) {
        name = file;
        count++;
      }
    }
    if (name == null) {
      return null;
    }
    final long number = SnapshotDescriptor.number(name);
    final long leftBegin = SnapshotFile.begin(disk, name, journal.origin());
    final SegmentFile first = firstSegment();
    if (count == 1 && (first == null || first.end() >= leftBegin)) {
      return null;
    }
    final SnapshotFile whole = SnapshotFile.read(disk, name, number, journal.origin());
    return whole == null ? null : new Taken(number, whole.begin(), whole.length(), whole.records());
  }

  private SegmentFile firstSegment() throws IOException {
    for (final String name : disk.list()) {
      final long number = SegmentDescriptor.number(name);
      if (number >= 0) {
        return SegmentFile.read(disk, name, number, journal.origin());
      }
    }
    return null;
  }

  private String unneeded() throws IOException {
    if (older == null) {
      return null;
    }
    final SegmentFile first = firstSegment();
    if (first != null && first.end() < older.begin()) {
      return first.name();
    }
    for (final String name : disk.list()) {
      final long number = SnapshotDescriptor.number(name);
      if (number >= 0 && number < newest.number() && number != older.number()) {
        return name;
      }
    }
    return null;
  }

  private void fail(IOException failure, long nowNs) {
    obstacle = failure;
    retryDelayNs = Math.min(RETRY_LIMIT_NS, Math.max(RETRY_NS, 2 * retryDelayNs));
    retryNs = nowNs + retryDelayNs;
    discard();
    become(State.IDLE);
    tell(listener -> listener.onFailure(failure));
  }

  /** Calls all listeners, each once, even if another one throws. */
  private void tell(Consumer<Listener> answer) {
    final List<Listener> told = List.copyOf(answered);
    answered.clear();
    for (final Listener listener : told) {
      try {
        answer.accept(listener);
      } catch (RuntimeException e) { // of one call, whose client is gone, for example
        LOGGER.log(Level.WARNING, "the end of a snapshot could not be told", e);
      }
    }
  }

  private void discard() {
    if (writer == null) {
      return;
    }
    try {
      writer.discard();
    } catch (IOException e) {
      obstacle.addSuppressed(e); // the next attempt or start removes the file
    }
    writer = null;
  }

  /** Gives up the snapshot under way, and takes no others. Called by the cycle's thread. */
  public void close() {
    if (state == State.CLOSED) {
      return;
    }
    obstacle = new IOException("the server ends");
    discard();
    synchronized (asking) {
      state = State.CLOSED;
      answered.addAll(asking);
      asking.clear();
    }
    final IOException end = obstacle;
    tell(listener -> listener.onFailure(end));
  }

  private void become(State next) {
    final boolean legal =
        switch (next) {
          case IDLE -> state != State.CLOSED;
          case WRITING -> state == State.IDLE;
          case AWAITING -> state == State.WRITING;
          case TRIMMING -> state == State.AWAITING;
          case CLOSED -> true;
        };
    if (!legal) {
      throw new IllegalStateException("state=" + state + " next=" + next);
    }
    state = next;
  }
}
