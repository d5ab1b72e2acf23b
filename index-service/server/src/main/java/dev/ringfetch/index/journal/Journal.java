package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.v1.Durability;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.agrona.ErrorHandler;

/**
 * The journal of a server: collects the records of all partitions, writes them in batches, syncs,
 * and tells the partitions. One sync is for all records that came before it (group commit).
 *
 * <p>A duty cycle: one thread calls {@link #work} again and again, and does all use of the disk.
 * Other threads append records through logs, without waiting for that thread.
 *
 * <p>The first sync or write of a batch that fails ends the journal for good: what the file then
 * has is unknown (Rebello and others, USENIX ATC 2020), and only the next server reads it again. A
 * disk that is full ends nothing: logs refuse puts before the last segment is full, and then all
 * records; they take them again when there is room. Where the disk is slow and not full, records
 * wait for the next segment.
 */
public final class Journal {
  /** A record is refused, as the disk is full. */
  static final int FULL = -1;

  /** A record is refused, as the journal has failed, or is closed. */
  static final int FAILED = -2;

  /** A record is refused, and there will be room: {@link #awaitRoom}. */
  static final int LATER = -3;

  /** More records of one log than are ever appended and not synced: room for them is bounded. */
  public static final long LOST_LIMIT = 1 << 20;

  /** Bytes from which on no more records are taken before the sync. */
  private static final int CYCLE_BYTES = 4 << 20;

  /** How long until the next segment is tried again. */
  private static final long RETRY_NS = TimeUnit.SECONDS.toNanos(1);

  private enum State {
    OPEN,
    FAILED,
    CLOSED
  }

  private final SegmentWriter segments;
  private final Checkpoint checkpoint;
  private final long origin;
  private final long epoch;
  private final long intervalNs;
  private final ErrorHandler errors;
  private final LongSupplier clock;
  private final SyncListener syncs;
  private final Consumer<IOException> obstacles;
  private final OwnerCheck owner;
  private final JournalCounts counts = new JournalCounts();
  private final Batch batch = new Batch();
  private final Set<JournalSource> sources = ConcurrentHashMap.newKeySet();
  private final JournalCatalog catalog;
  private final AtomicReference<JournalSource> newlyListed = new AtomicReference<>();

  /** Whether a source waits for room. */
  private volatile boolean roomAwaited;

  private volatile Runnable alarm = () -> {};
  private volatile State state = State.OPEN;
  private final boolean clean;
  private final boolean copied;
  private volatile IOException failure;
  private volatile IOException obstacle;
  private volatile long obstacleSinceNs;

  // Of the journal's thread.
  private List<JournalSource> listed = new ArrayList<>();
  private List<JournalSource> kept = new ArrayList<>();
  private final List<JournalSource> written = new ArrayList<>();
  private long waitingSinceNs;
  private boolean waiting;

  /** Whether the last cycle has left records, as there were too many for one. */
  private boolean behind;

  private long retryNs;
  private boolean retrying;

  /** Whether there may be more room than when sources were told last. */
  private boolean roomChanged;

  private long previous;

  /** Records that were written since the last sync. */
  private long unsyncedRecords;

  /** Position up to which all is synced. */
  private volatile long durable;

  private final SnapshotChoice recoveredFrom;

  /** Checks that the journal's directory still belongs to this process. */
  @FunctionalInterface
  public interface OwnerCheck {
    /**
     * Returns if it does. What was written before the call is then read by any later owner.
     *
     * @throws IOException if it does not, or that cannot be told, with the reason as its message
     */
    void check() throws IOException;
  }

  /** Options of a journal. Setters return this. */
  public static final class Context {
    /** Length of a segment unless set. */
    public static final int SEGMENT_LENGTH_DEFAULT = 32 << 20;

    /** How long a record may wait whose index has {@link Durability#INTERVAL}, unless set. */
    public static final Duration INTERVAL_DEFAULT = Duration.ofMillis(10);

    /** Two segments take fewer records than {@link Journal#LOST_LIMIT}. */
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
    RecoveryProgress progress = (bytes, total, records) -> {};

    /** Creates the defaults. */
    public Context() {}

    /** Sets the length of new segments in bytes, from 4 to 48 MiB. */
    public Context segmentLength(int bytes) {
      if (bytes < SegmentWriter.LENGTH_MIN
          || bytes > SEGMENT_LENGTH_MAX
          || bytes % RecordDescriptor.ALIGNMENT != 0) {
        throw new IllegalArgumentException("segmentLength=" + bytes);
      }
      segmentLength = bytes;
      return this;
    }

    /** Sets how long a record of {@link Durability#INTERVAL} may wait for its sync to begin. */
    public Context interval(long ns) {
      if (ns < 0) {
        throw new IllegalArgumentException("intervalNs=" + ns);
      }
      intervalNs = ns;
      return this;
    }

    /** Sets the first 64 bits of the directory's id, and the epoch of this server. */
    public Context owner(long directoryOrigin, long serverEpoch) {
      origin = directoryOrigin;
      epoch = serverEpoch;
      return this;
    }

    /** Sets the check before each write and before each answer; on any thread. */
    public Context ownerCheck(OwnerCheck check) {
      owner = check;
      return this;
    }

    /** Sets what is told how far the recovery has come. */
    public Context progress(RecoveryProgress told) {
      progress = told;
      return this;
    }

    /** Sets what is told of each sync, and the clock by which it is measured, in nanoseconds. */
    public Context syncs(SyncListener listener, LongSupplier nanoClock) {
      syncs = listener;
      clock = nanoClock;
      return this;
    }

    /**
     * Sets what is told why there is no next segment, once when that begins, and with null when
     * there is one; on the journal's thread.
     */
    public Context obstacles(Consumer<IOException> told) {
      obstacles = told;
      return this;
    }

    /** Sets what is told why the journal has failed, once, on the journal's thread. */
    public Context errors(ErrorHandler handler) {
      errors = handler;
      return this;
    }
  }

  /** Goes on behind what was recovered. */
  Journal(
      Context context, SegmentWriter segments, Checkpoint checkpoint, Recovery.Result recovered) {
    this.segments = segments;
    this.checkpoint = checkpoint;
    origin = context.origin;
    epoch = context.epoch;
    intervalNs = context.intervalNs;
    errors = context.errors;
    clock = context.clock;
    syncs = context.syncs;
    obstacles = context.obstacles;
    owner = context.owner;
    previous = recovered.previous();
    durable = recovered.end();
    clean = recovered.clean();
    copied = recovered.copied();
    recoveredFrom = recovered.choice();
    catalog = new JournalCatalog(this, recovered.catalogLsn());
    sources.add(catalog.source());
  }

  /**
   * Opens the journal of a directory, and passes all records in it to the sink, in their order.
   *
   * @throws JournalDamagedException if something is missing or has changed that was synced
   * @throws IOException if the disk fails, or the sink does
   */
  public static Journal open(Disk disk, Context context, RecordSink sink) throws IOException {
    return Recovery.open(disk, context, sink);
  }

  /** Whether a directory has a journal, or a part of one. */
  public static boolean isIn(Disk disk) throws IOException {
    for (final String name : disk.list()) {
      if (name.equals(Checkpoint.NAME)
          || SegmentDescriptor.number(name) >= 0
          || SnapshotDescriptor.number(name) >= 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Marks the journal of a directory, if it has one, as that of a copy on which no server has
   * started. Nobody may use the journal meanwhile.
   */
  public static void markCopied(Disk disk, long origin) throws IOException {
    if (disk.list().contains(Checkpoint.NAME)) {
      try (Checkpoint checkpoint = Checkpoint.open(disk, origin)) {
        checkpoint.write(checkpoint.durable(), Checkpoint.End.COPIED);
        checkpoint.sync();
      }
    }
  }

  /** Sets what is called, on any thread, when {@link #work} is due earlier than it has said. */
  public void onWork(Runnable called) {
    alarm = called;
  }

  /**
   * Whether the journal was new, or ended in order. If not, records may be lost that were appended,
   * fewer than {@link #LOST_LIMIT} of a log: LSNs go on behind those.
   */
  public boolean wasClean() {
    return clean;
  }

  /** The snapshot from which the journal was recovered, and what else there was. */
  SnapshotChoice recoveredFrom() {
    return recoveredFrom;
  }

  /** Number of the snapshot from which the journal was recovered; 0: from all of its records. */
  public long recoveredSnapshot() {
    return recoveredFrom.snapshot() == null ? 0 : recoveredFrom.snapshot().number();
  }

  /** Snapshots that were damaged and passed over, for people; empty if there was none. */
  public List<String> damagedSnapshots() {
    return recoveredFrom.damaged();
  }

  /** Position up to which all is durable: the end of a batch. Any thread. */
  public long durable() {
    return durable;
  }

  /** LSN of the last record of the catalog that was appended. Any thread. */
  public long catalogLsn() {
    return catalog.last();
  }

  /** LSN up to which the catalog's records are durable. Any thread. */
  public long durableCatalogLsn() {
    return catalog.source().durable();
  }

  /** Throws if the directory belongs to this process no more. Any thread. */
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
   * Opens the log of a partition, to which no other one appends.
   *
   * @param index number of the index
   * @param last LSN before the first one
   */
  public PartitionLog log(long index, int partition, Durability durability, long last) {
    return new PartitionLog(this, index, partition, durability, last);
  }

  /**
   * Opens a sequence of records that keep their bytes, each synced as soon as can be.
   *
   * @param listener is run when records became durable, and when the journal has failed; on the
   *     journal's thread
   */
  public CopiedLog copies(Runnable listener) {
    return new CopiedLog(this, listener);
  }

  /**
   * Records that an index is there from now on. Records of it that are appended later are answered
   * after a sync only if this one is synced, too.
   *
   * @param done is run once it is durable, or the journal has failed; on the journal's thread, or
   *     the caller's
   * @return false if there is no room for the record, and nothing was done
   */
  public boolean create(long index, String name, IndexDefinition definition, Runnable done) {
    return catalog.append(
        RecordDescriptor.CREATE_INDEX,
        index,
        ByteString.copyFromUtf8(name),
        definition.encoded(),
        done);
  }

  /** Records that an index is there no more; else as {@link #create}. */
  public boolean drop(long index, Runnable done) {
    return catalog.append(
        RecordDescriptor.DROP_INDEX, index, ByteString.EMPTY, ByteString.EMPTY, done);
  }

  /**
   * Records that a client has this number from now on; else as {@link #create}.
   *
   * @param firstIncomplete the first of its requests whose outcome is kept
   */
  public boolean openClient(long client, long firstIncomplete, Runnable done) {
    return catalog.append(RecordDescriptor.OPEN_CLIENT, client, firstIncomplete, done);
  }

  /** Records that there is a client no more, and its outcomes are gone; else as {@link #create}. */
  public boolean closeClient(long client, Runnable done) {
    return catalog.append(RecordDescriptor.CLOSE_CLIENT, client, 0, done);
  }

  /**
   * Records that the partitions there are skip {@link #LOST_LIMIT} LSNs, and syncs. To be called
   * before any other record is appended, if the journal was not {@linkplain #wasClean clean}, by
   * the thread that works.
   *
   * @throws IOException if the record cannot be synced
   */
  public void skip() throws IOException {
    begin(RecordDescriptor.SKIP, ByteString.EMPTY);
  }

  /** Whether this is the journal of a copy, on which no server has started. */
  public boolean isCopied() {
    return copied;
  }

  /**
   * Records that the indexes there have other incarnations, and skip LSNs; else as {@link #skip}.
   *
   * @param salt changes the incarnations
   */
  public void restore(long salt) throws IOException {
    begin(RecordDescriptor.RESTORE, RecordDescriptor.value(salt));
  }

  private void begin(int type, ByteString value) throws IOException {
    if (!catalog.append(type, 0, ByteString.EMPTY, value, () -> {})) {
      throw new IOException("the journal has no room for its start", obstacle);
    }
    collect();
    write();
    publish();
    checkpoint.write(durable, false);
  }

  // What logs call, on any thread.

  void add(JournalSource source) {
    sources.add(source);
  }

  void remove(JournalSource source) {
    sources.remove(source);
  }

  /** Reserves room for a record; returns 0, {@link #FULL}, {@link #LATER} or {@link #FAILED}. */
  int reserve(int length, int type) {
    if (state != State.OPEN) {
      return FAILED;
    }
    if (segments.room().reserve(length, type)) {
      return 0;
    }
    return obstacle == null ? LATER : FULL;
  }

  /** Whether {@link #reserve} would say {@link #LATER}. */
  boolean isShortOf(int length, int type) {
    return state == State.OPEN && obstacle == null && !segments.room().fits(length, type);
  }

  /** Has the sources that wait for room be told when it is time to look again. */
  void awaitRoom() {
    if (!roomAwaited) {
      roomAwaited = true;
      alarm.run(); // what has taken the room may not be due for long
    }
  }

  /** Lists a source that has records. */
  void list(JournalSource source) {
    JournalSource head;
    do {
      head = newlyListed.get();
      source.following = head;
    } while (!newlyListed.compareAndSet(head, source));
    if (head == null) {
      alarm.run();
    }
  }

  /** Whether a write or a sync has failed: no record is taken any more. */
  public boolean isFailed() {
    return state == State.FAILED;
  }

  /** Why the journal has failed, or null. */
  public IOException failure() {
    return failure;
  }

  /** Why there is no next segment, or null: the disk is full, for example. */
  public IOException obstacle() {
    return obstacle;
  }

  /** For how long there has been an {@link #obstacle}, in nanoseconds; 0 if there is none. */
  public long obstacleNs() {
    final long sinceNs = obstacleSinceNs;
    return obstacle == null ? 0 : Math.max(0, clock.getAsLong() - sinceNs);
  }

  /** What was counted since the journal was opened. Any thread. */
  public JournalCounts counts() {
    return counts;
  }

  // The duty cycle.

  /**
   * Does what is due.
   *
   * @param nowNs the present time, of a clock that never goes back
   * @return nanoseconds until there is more to do, 0 if there is now; {@link Long#MAX_VALUE} if
   *     only when the alarm says so
   */
  public long work(long nowNs) {
    if (state != State.OPEN) {
      return Long.MAX_VALUE;
    }
    collect();
    long begin = segments.position();
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
        checkpoint.write(durable, false); // no answer waits for it: it may be older
      } catch (IOException e) {
        fail(e);
        return Long.MAX_VALUE;
      }
    }
    // As much of the next segment as was taken of this one: it is ready when this one is full.
    long prepareNs;
    do {
      prepareNs = prepare(nowNs);
      begin += SegmentWriter.STEP_LENGTH;
    } while (prepareNs == 0 && begin < segments.position());
    if (roomAwaited && roomChanged) {
      roomChanged = false;
      roomAwaited = false; // before they look
      sources.forEach(JournalSource::roomChanged);
    }
    return Math.min(prepareNs, untilDue(nowNs));
  }

  private void collect() {
    if (newlyListed.get() == null) {
      return;
    }
    for (JournalSource source = newlyListed.getAndSet(null); source != null; ) {
      final JournalSource following = source.following;
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
    for (final JournalSource source : listed) {
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

  /** Writes what the listed sources have, and syncs. */
  private void write() throws IOException {
    owner.check(); // first: an earlier owner changes nothing
    waiting = false;
    behind = false;
    final long end = segments.position() + CYCLE_BYTES;
    batch.begin(segments.remaining());
    boolean catalogListed = false;
    for (final JournalSource source : listed) {
      if (source == catalog.source()) {
        catalogListed = true;
      } else if (segments.position() < end) {
        source.leaveList();
        take(source, end);
      } else {
        behind = true;
        kept.add(source);
      }
    }
    // Last, and all of them: before a record of an index was appended, its creation was. It may
    // have been listed since; then it stays so.
    if (catalogListed) {
      catalog.source().leaveList();
    }
    take(catalog.source(), Long.MAX_VALUE);
    flush();
    sync();
    owner.check(); // last: a later owner reads what is answered now
    final List<JournalSource> empty = listed;
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

  /** Moves the records of a source into batches, up to about that position. */
  private void take(JournalSource source, long end) throws IOException {
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

  /** Turns to the next segment, which is ready: records are reserved only for room there is. */
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
    for (final JournalSource source : written) {
      source.synced();
    }
    written.clear();
  }

  private long prepare(long nowNs) {
    if (segments.isNextReady() || (retrying && nowNs - retryNs < 0)) {
      return segments.isNextReady() ? Long.MAX_VALUE : retryNs - nowNs;
    }
    try {
      owner.check(); // what is in the way of the next segment may be a later owner's
    } catch (IOException e) {
      fail(e);
      return Long.MAX_VALUE;
    }
    try {
      retrying = false;
      if (segments.prepare()) {
        return 0;
      }
      if (obstacle != null) {
        obstacles.accept(null);
      }
      obstacle = null;
      roomChanged = true;
      return Long.MAX_VALUE;
    } catch (IOException e) {
      if (obstacle == null) {
        obstacleSinceNs = clock.getAsLong();
        obstacles.accept(e);
      }
      obstacle = e;
      roomChanged = true;
      retrying = true;
      retryNs = nowNs + RETRY_NS;
      return RETRY_NS;
    }
  }

  /** Ends the journal for good. */
  void fail(IOException e) {
    if (state != State.OPEN) {
      return;
    }
    failure = e;
    state = State.FAILED;
    errors.onError(e);
    for (final JournalSource source : sources) {
      try {
        source.failed();
      } catch (Throwable t) { // of one partition: the others are to be told, too
        errors.onError(t);
      }
    }
  }

  /** Gives the files up, and leaves them as they are: nothing was appended that matters. */
  public void abandon() throws IOException {
    state = State.CLOSED;
    try {
      segments.close();
    } finally {
      checkpoint.close();
    }
  }

  /**
   * Writes all records that were appended, says in the checkpoint that the journal ended in order,
   * and gives the files up. No record may be appended any more, and no other thread use the
   * journal.
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
