package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/**
 * The journal of a server: collects the records of all partitions, writes them in batches, syncs,
 * and notifies the partitions. One sync covers all records that came before it (group commit).
 *
 * <p>A duty cycle: one thread calls {@link #work} again and again, and is the only user of the
 * disk. Other threads append records through logs, without waiting for that thread.
 *
 * <p>The first failed sync or write of a batch ends the journal for good: the content of the file
 * is unknown then (Rebello and others, USENIX ATC 2020), and only the next server reads it again. A
 * full disk does not end the journal: it refuses puts before the last segment is full, and then all
 * records, until there is room again. If the disk is slow but not full, records wait for the next
 * segment.
 */
public final class Journal {
  /** Upper bound of the unsynced records of one log, as the room for them is bounded. */
  public static final long LOST_LIMIT = 1 << 20;

  /** Bytes after which a cycle takes no more records before its sync. */
  private static final int CYCLE_BYTES = 4 << 20;

  private enum State {
    OPEN,
    FAILED,
    CLOSED
  }

  private final SegmentWriter segments;
  private final NextSegment next;
  private final Checkpoint checkpoint;
  private final long origin;
  private final long epoch;
  private final long intervalNs;
  private final ErrorHandler errors;
  private final LongSupplier clock;
  private final SyncListener syncs;
  private final DiskQuota quota;
  private final OwnerCheck owner;
  private final JournalCounts counts = new JournalCounts();
  private final Batch batch = new Batch();
  private final Set<CopiedLog> sources = ConcurrentHashMap.newKeySet();
  private final AtomicReference<CopiedLog> newlyListed = new AtomicReference<>();

  /** Whether a source waits for room. */
  private volatile boolean roomAwaited;

  volatile Runnable alarm = () -> {};
  private volatile State state = State.OPEN;
  private final boolean copied;
  private volatile IOException failure;

  // Of the journal's thread.
  private List<CopiedLog> listed = new ArrayList<>();
  private List<CopiedLog> kept = new ArrayList<>();
  private final List<CopiedLog> written = new ArrayList<>();
  private long waitingSinceNs;
  private boolean waiting;

  /** Whether the last cycle has left records because there were too many. */
  private boolean behind;

  /** Whether there may be more room than at the last notification of the sources. */
  private boolean roomChanged;

  private long previous;

  /** Records that were written since the last sync. */
  private long unsyncedRecords;

  /** Position up to which the journal is synced. */
  private volatile long durable;

  private final SnapshotChoice recoveredFrom;

  /** Continues a recovered journal. */
  Journal(
      JournalContext context,
      SegmentWriter segments,
      Checkpoint checkpoint,
      Recovery.Result recovered) {
    this.segments = segments;
    next = new NextSegment(segments, context);
    this.checkpoint = checkpoint;
    origin = context.origin;
    epoch = context.epoch;
    intervalNs = context.intervalNs;
    errors = context.errors;
    clock = context.clock;
    syncs = context.syncs;
    quota = context.quota;
    owner = context.owner;
    previous = recovered.previous();
    durable = recovered.end();
    copied = recovered.copied();
    recoveredFrom = recovered.choice();
  }

  /**
   * Opens the journal of a directory, and passes all records in it to the sink, in their order.
   *
   * @throws JournalDamagedException if synced data is missing or has changed
   * @throws IOException if the disk or the sink fails
   */
  public static Journal open(Disk disk, JournalContext context, RecordSink sink)
      throws IOException {
    return Recovery.open(disk, context, sink);
  }

  /** Whether a directory has a journal, or a part of one. */
  public static boolean isIn(Disk disk) throws IOException {
    for (final String name : disk.list()) {
      if (name.equals(Checkpoint.NAME)
          || SegmentDescriptor.number(name) >= 0
          || SnapshotDescriptor.isSnapshot(name)) {
        return true;
      }
    }
    return false;
  }

  /** Sets what is called, on any thread, when {@link #work} is due earlier than it has said. */
  public void onWork(Runnable called) {
    alarm = called;
  }

  /** The snapshot from which the journal was recovered, and the other files of snapshots. */
  SnapshotChoice recoveredFrom() {
    return recoveredFrom;
  }

  /** Number of the snapshot from which the journal was recovered; 0: from all of its records. */
  public long recoveredSnapshot() {
    return recoveredFrom.snapshot() == null ? 0 : recoveredFrom.snapshot().number();
  }

  /** Names of damaged snapshots that were skipped, for messages; empty if there are none. */
  public List<String> damagedSnapshots() {
    return recoveredFrom.damaged();
  }

  /** Position up to which all is durable: the end of a batch. Any thread. */
  public long durable() {
    return durable;
  }

  /** Throws if the directory no longer belongs to this process. Any thread. */
  void checkOwner() throws IOException {
    owner.check();
  }

  /** The first 64 bits of the directory's id. */
  long origin() {
    return origin;
  }

  /** The reader of the journal's files on this disk, which is not the journal's own. */
  public JournalReader reader(Disk disk) {
    return new JournalReader(disk, origin, () -> durable);
  }

  /** Epoch of the server, as records say it. */
  long epoch() {
    return epoch;
  }

  /**
   * Opens a sequence of encoded records.
   *
   * @param listener runs on the journal's thread when records have become durable, and when the
   *     journal has failed
   */
  public CopiedLog copies(Runnable listener) {
    return new CopiedLog(this, listener);
  }

  /** Whether this journal is a copy on which no server has started. */
  public boolean isCopied() {
    return copied;
  }

  // Methods for logs, on any thread.

  void add(CopiedLog source) {
    sources.add(source);
  }

  void remove(CopiedLog source) {
    sources.remove(source);
  }

  /** Reserves room for a record; false if there is none, or the journal takes no record. */
  boolean reserve(int length, int type) {
    return state == State.OPEN && segments.room().reserve(length, type);
  }

  /** Whether there is no room for a record. */
  boolean isShortOf(int length, int type) {
    return !segments.room().fits(length, type);
  }

  /** Requests a notification of the waiting sources when there may be more room. */
  void awaitRoom() {
    if (!roomAwaited) {
      roomAwaited = true;
      alarm.run(); // the records in this room may not be due for long
    }
  }

  /** Lists a source that has records. */
  void list(CopiedLog source) {
    CopiedLog head;
    do {
      head = newlyListed.get();
      source.following = head;
    } while (!newlyListed.compareAndSet(head, source));
    if (head == null) {
      alarm.run();
    }
  }

  /** Whether a write or a sync has failed: all records are refused. */
  public boolean isFailed() {
    return state == State.FAILED;
  }

  /** The failure of the journal, or null. */
  public @Nullable IOException failure() {
    return failure;
  }

  /** The reason why there is no next segment, for example a full disk; null if there is one. */
  public @Nullable IOException shortage() {
    return next.obstacle().reason();
  }

  /** The quota of the directory. Any thread. */
  public DiskQuota quota() {
    return quota;
  }

  /** The reason why puts are refused, or soon will be; null if there is room. */
  public @Nullable IOException obstacle() {
    return present().reason();
  }

  /** Age of the {@link #obstacle} in nanoseconds; 0 if there is none. */
  public long obstacleNs() {
    return present().ageNs();
  }

  private JournalObstacle present() {
    return next.obstacle().reason() == null ? quota.obstacle() : next.obstacle();
  }

  /** The counts since the journal was opened. Any thread. */
  public JournalCounts counts() {
    return counts;
  }

  // The duty cycle.

  /**
   * Runs one cycle.
   *
   * @param nowNs the present time, of a clock that never goes back
   * @return nanoseconds until the next cycle is due, 0 for at once; {@link Long#MAX_VALUE} to wait
   *     for the alarm
   */
  public long work(long nowNs) {
    if (state != State.OPEN) {
      return Long.MAX_VALUE;
    }
    collect();
    final long begin = segments.position();
    if (isDue(nowNs)) {
      try {
        write();
      } catch (IOException e) {
        fail(e);
        return Long.MAX_VALUE;
      } catch (RuntimeException e) {
        fail(new IOException("the journal's writer has failed", e));
        return Long.MAX_VALUE;
      }
      publish();
      try {
        checkpoint.write(durable, false); // no answer waits for it, so it may be late
      } catch (IOException e) {
        fail(e);
        return Long.MAX_VALUE;
      }
    }
    final long prepareNs;
    try {
      prepareNs = next.work(nowNs, segments.position() - begin);
    } catch (IOException e) {
      fail(e);
      return Long.MAX_VALUE;
    }
    roomChanged |= next.takeChanged();
    if (roomAwaited && roomChanged) {
      roomChanged = false;
      roomAwaited = false; // before the sources check
      sources.forEach(CopiedLog::roomChanged);
    }
    return Math.min(prepareNs, untilDue(nowNs));
  }

  private void collect() {
    if (newlyListed.get() == null) {
      return;
    }
    for (CopiedLog source = newlyListed.getAndSet(null); source != null; ) {
      final CopiedLog following = source.following;
      source.following = null;
      listed.add(source);
      source = following;
    }
  }

  private boolean isDue(long nowNs) {
    if (listed.isEmpty()) {
      return false;
    }
    counts.waits(nowNs);
    if (!waiting) {
      waiting = true;
      waitingSinceNs = nowNs;
    }
    if (behind || roomAwaited || nowNs - waitingSinceNs >= intervalNs) {
      return true;
    }
    for (final CopiedLog source : listed) {
      if (source.isUrgent()) {
        return true;
      }
    }
    return false;
  }

  private long untilDue(long nowNs) {
    if (newlyListed.get() != null) {
      return 0;
    }
    if (listed.isEmpty()) {
      return Long.MAX_VALUE;
    }
    return waiting && !behind && !roomAwaited
        ? Math.max(0, waitingSinceNs + intervalNs - nowNs)
        : 0;
  }

  /** Writes the records of the listed sources, and syncs. */
  private void write() throws IOException {
    owner.check(); // first: a former owner must not change anything
    waiting = false;
    behind = false;
    final long end = segments.position() + CYCLE_BYTES;
    batch.begin(segments.remaining());
    for (final CopiedLog source : listed) {
      if (segments.position() < end) {
        source.leaveList();
        take(source, end);
      } else {
        behind = true;
        kept.add(source);
      }
    }
    flush();
    sync();
    owner.check(); // last: a later owner reads everything that is answered now
    final List<CopiedLog> empty = listed;
    listed = kept;
    kept = empty;
    kept.clear();
    durable = segments.position();
    roomChanged = true;
    if (listed.isEmpty()) {
      counts.isIdle();
    }
  }

  private void sync() throws IOException {
    final long beginNs = clock.getAsLong();
    segments.sync();
    final long durationNs = clock.getAsLong() - beginNs;
    final long bytes = segments.position() - durable;
    counts.synced(durationNs, unsyncedRecords, bytes);
    syncs.onSync(durationNs, unsyncedRecords, bytes);
    unsyncedRecords = 0;
  }

  /** Moves the records of a source into batches, up to about this position. */
  private void take(CopiedLog source, long end) throws IOException {
    while (!source.take(batch)) {
      if (batch.isEmpty()) {
        turn();
      }
      flush();
      batch.begin(segments.remaining());
      if (segments.position() >= end) {
        behind = true;
        break;
      }
    }
    if (source.isWritten()) {
      written.add(source);
    }
    if (source.staysListed()) {
      kept.add(source);
    }
  }

  /** Switches to the next segment, which is ready, as records reserve only existing room. */
  private void turn() throws IOException {
    segments.sync();
    segments.rotate();
  }

  private void flush() throws IOException {
    if (batch.isEmpty()) {
      return;
    }
    segments.write(batch.end(origin, segments.position(), previous, durable));
    segments.room().written(batch.records());
    unsyncedRecords += batch.records();
    previous = segments.position();
    batch.begin(segments.remaining());
  }

  private void publish() {
    for (final CopiedLog source : written) {
      source.synced();
    }
    written.clear();
  }

  /** Ends the journal for good. */
  void fail(IOException e) {
    if (state != State.OPEN) {
      return;
    }
    failure = e;
    state = State.FAILED;
    errors.onError(e);
    for (final CopiedLog source : sources) {
      try {
        source.failed();
      } catch (Throwable t) { // of one partition: the others must be notified, too
        errors.onError(t);
      }
    }
  }

  /** Closes the files without changes: no appended record matters. */
  public void abandon() throws IOException {
    state = State.CLOSED;
    try {
      segments.close();
    } finally {
      checkpoint.close();
    }
  }

  /**
   * Writes all appended records, notes an orderly end in the checkpoint, and closes the files. No
   * other thread may use the journal any more.
   */
  public void close() throws IOException {
    if (state == State.CLOSED) {
      return;
    }
    try {
      if (state == State.OPEN) {
        do {
          collect();
          write();
          publish();
        } while (newlyListed.get() != null || !listed.isEmpty());
        checkpoint.write(durable, true);
        checkpoint.sync();
      }
    } finally {
      abandon();
    }
  }
}
