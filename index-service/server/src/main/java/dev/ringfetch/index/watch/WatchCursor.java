package dev.ringfetch.index.watch;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalReader;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import java.io.IOException;
import java.util.Arrays;

/**
 * The cursor of one watch over the changes of an index. A partition whose ring has all changes
 * after the cursor's position is <i>joined</i>: its changes are read from the ring. The changes of
 * other partitions are read from the journal, until the ring has the rest.
 *
 * <p>No change is lost between the two, as the ring began before the journal was read. No change
 * comes twice, or before it is applied: a partition is joined at the latest when the journal passes
 * a record after the newest change of the ring.
 *
 * <p>The journal may have lost its begin. LSNs show whether a record is missing between the
 * position and the first existing record, as they have no gaps except those before {@link
 * RecordDescriptor#GAP} records.
 *
 * <p>Used by one thread at a time.
 */
public final class WatchCursor {
  /** Number of changes in the rings that one step checks. */
  private static final int STEP = 4096;

  /** How a step ended. */
  public enum State {
    /** There are no more changes now. */
    IDLE,
    /** There may be more changes. */
    MORE,
    /** Changes have left the ring before they were read. */
    SLOW,
    /**
     * Changes after the position are no longer kept; {@link #oldest} has the oldest possible
     * position.
     */
    GONE
  }

  private final WatchedIndex index;
  private final long[] lsns;

  /** By partition: number of the next change in the ring; {@link ChangeRing#GONE} if not joined. */
  private final long[] numbers;

  /** Bytes of the skipped changes of a partition since the last response. */
  private final long[] passedBytes;

  private int turn;

  // Place in the journal for partitions that are not joined.
  private JournalReader.Place place;

  /**
   * By partition: whether no record is missing between the watch's position and the place in the
   * journal.
   */
  private final boolean[] connected;

  /** If changes are missing: by partition, the first existing record, 0 if none yet. */
  private long[] first;

  private long[] oldest;

  /**
   * Creates a cursor.
   *
   * @param lsns position of the begin, by partition; {@link WatchToken#UNWATCHED} for partitions
   *     that are not watched
   */
  public WatchCursor(WatchedIndex index, long[] lsns) {
    this.index = index;
    this.lsns = lsns.clone();
    numbers = new long[lsns.length];
    Arrays.fill(numbers, ChangeRing.GONE);
    passedBytes = new long[lsns.length];
    connected = new boolean[lsns.length];
  }

  /** The token of the position. */
  public ByteString token() {
    return WatchToken.encode(index.incarnation(), lsns);
  }

  /** After {@link State#GONE}: the token of the oldest possible position. */
  public ByteString oldest() {
    return WatchToken.encode(index.incarnation(), oldest);
  }

  private boolean isWatched(int partition) {
    return lsns[partition] != WatchToken.UNWATCHED;
  }

  private boolean isJoined(int partition) {
    return numbers[partition] != ChangeRing.GONE;
  }

  /** Whether changes have left a ring before they were read. */
  public boolean isSlow() {
    for (int i = 0; i < lsns.length; i++) {
      if (isWatched(i)
          && isJoined(i)
          && !index.ring(i).isEnd(numbers[i])
          && index.ring(i).change(numbers[i]) == null) {
        return true;
      }
    }
    return false;
  }

  /** Whether a response is due: otherwise the ring might drop changes after the client's token. */
  public boolean isFarFromSent() {
    for (int i = 0; i < lsns.length; i++) {
      if (passedBytes[i] > 0 && passedBytes[i] > index.ring(i).share() / 4) {
        return true;
      }
    }
    return false;
  }

  /** Notes that the token was sent to the client. */
  public void sent() {
    Arrays.fill(passedBytes, 0);
  }

  /** Whether the next step reads the journal. */
  public boolean isBehind() {
    return first != null || (!join() && index.journal() != null);
  }

  /**
   * Adds changes to a batch, until it is full or a bounded number was checked.
   *
   * @throws IOException if the journal cannot be read
   */
  public State step(EventBatch batch) throws IOException {
    if (first != null) {
      return findOldest();
    }
    if (!join()) {
      if (index.journal() == null) {
        oldest = oldestOfRings();
        return State.GONE;
      }
      return readJournal(batch);
    }
    return readRings(batch);
  }

  /** Joins partitions; returns whether all are joined. */
  private boolean join() {
    boolean all = true;
    for (int i = 0; i < lsns.length; i++) {
      all &= !isWatched(i) || isJoined(i) || join(i);
    }
    if (all) {
      place = null;
    }
    return all;
  }

  private boolean join(int partition) {
    numbers[partition] = index.ring(partition).numberAfter(lsns[partition]);
    return isJoined(partition);
  }

  private long[] oldestOfRings() {
    final long[] floors = lsns.clone();
    for (int i = 0; i < floors.length; i++) {
      floors[i] = isWatched(i) ? index.ring(i).floor() : floors[i];
    }
    return floors;
  }

  private State readRings(EventBatch batch) {
    int left = STEP;
    for (int i = 0; i < lsns.length; i++) {
      final int partition = turn;
      if (isWatched(partition)) {
        final ChangeRing ring = index.ring(partition);
        while (!ring.isEnd(numbers[partition])) {
          if (left-- == 0 || !batch.hasRoom()) {
            return State.MORE;
          }
          final Change change = ring.change(numbers[partition]);
          if (change == null) {
            return State.SLOW;
          }
          numbers[partition]++;
          pass(partition, change, batch);
        }
      }
      turn = (turn + 1) % lsns.length;
    }
    return State.IDLE;
  }

  private void pass(int partition, Change change, EventBatch batch) {
    lsns[partition] = change.version();
    boolean isAdded = false;
    for (Change each = change; each != null; each = each.next()) {
      isAdded |= batch.add(each);
    }
    if (!isAdded) {
      passedBytes[partition] += change.bytes();
    }
  }

  private State readJournal(EventBatch batch) throws IOException {
    if (place == null) {
      beginReading();
    }
    // Before the step, which reads up to the durable position of that moment.
    final long[] floors = oldestOfRings();
    for (int i = 0; i < floors.length; i++) {
      if (isWatched(i) && floors[i] > index.durable(i)) {
        floors[i] = 0; // the journal does not have everything yet
      }
    }
    final JournalReader.Progress progress =
        index.journal().read(place, record -> takeRecord(record, batch));
    if (first != null) { // a gap
      return State.MORE;
    }
    switch (progress) {
      case LOST -> place = null; // begin again with the remaining segments
      case END -> {
        final boolean moved = reach(floors);
        return moved || first != null ? State.MORE : State.IDLE;
      }
      case MORE -> {
        // as below
      }
    }
    return State.MORE;
  }

  private void beginReading() throws IOException {
    final long[] from = lsns.clone();
    for (int i = 0; i < from.length; i++) {
      from[i] = isWatched(i) && !isJoined(i) ? from[i] : Long.MAX_VALUE;
    }
    Arrays.fill(connected, false);
    place = index.journal().begin(index.number(), from);
  }

  /** Processes a record of the journal; returns whether to continue. */
  private boolean takeRecord(JournalRecord record, EventBatch batch) {
    final int partition = partition(record);
    if (partition < 0 || isJoined(partition)) {
      return true;
    }
    final long lsn = record.lsn();
    final boolean isGap = record.type() == RecordDescriptor.GAP; // in the place of lost ones
    if (!isConnected(partition, isGap ? lsn - Journal.LOST_LIMIT : lsn)) {
      return false;
    }
    final ChangeRing ring = index.ring(partition);
    for (long last = ring.last(); lsn > last; last = ring.last()) {
      // Durable, but not applied yet: the ring will have it, and everything up to the ring's last
      // change was passed.
      lsns[partition] = Math.max(lsns[partition], last);
      if (join(partition)) {
        return !isAllJoined();
      }
    }
    if (lsn <= lsns[partition]) {
      return true;
    }
    final Change change = Change.of(record);
    if (change == null) {
      lsns[partition] = lsn;
    } else {
      pass(partition, change, batch);
    }
    if (lsn >= ring.floor() && join(partition) && isAllJoined()) {
      return false;
    }
    return batch.hasRoom();
  }

  /** The partition of a record; -1 if the record does not matter. */
  private int partition(JournalRecord record) {
    final int partition = record.partition();
    return record.index() == index.number()
            && RecordDescriptor.isOfPartition(record.type())
            && partition < lsns.length
            && isWatched(partition)
        ? partition
        : -1;
  }

  private boolean isAllJoined() {
    for (int i = 0; i < lsns.length; i++) {
      if (isWatched(i) && !isJoined(i)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether no record is missing between the position and the first existing one.
   *
   * @param firstLsn of that, or of the gap before it
   */
  private boolean isConnected(int partition, long firstLsn) {
    if (!connected[partition]) {
      connected[partition] = place.isComplete() || firstLsn - 1 <= lsns[partition];
      if (!connected[partition]) {
        first = new long[lsns.length];
        place = null;
      }
    }
    return connected[partition];
  }

  /**
   * Advances partitions whose records up to these LSNs were all passed; returns whether any
   * advanced.
   */
  private boolean reach(long[] floors) {
    boolean moved = false;
    for (int i = 0; i < lsns.length && first == null; i++) {
      if (isWatched(i) && !isJoined(i) && lsns[i] < floors[i] && isConnected(i, floors[i] + 1)) {
        lsns[i] = floors[i];
        moved = true;
      }
    }
    return moved;
  }

  /** Searches the journal from its begin for the first record of each partition. */
  private State findOldest() throws IOException {
    final JournalReader journal = index.journal();
    if (place == null) {
      place = journal.begin(index.number(), new long[lsns.length]);
      Arrays.fill(first, 0);
    }
    final JournalReader.Progress progress =
        journal.read(
            place,
            record -> {
              final int partition = partition(record);
              if (partition >= 0 && first[partition] == 0) {
                first[partition] = record.lsn();
              }
              return partition < 0 || !isAllFound();
            });
    if (progress == JournalReader.Progress.LOST) {
      place = null;
    } else if (progress == JournalReader.Progress.END || isAllFound()) {
      oldest = oldestOfRings();
      for (int i = 0; i < oldest.length; i++) {
        oldest[i] = isWatched(i) && first[i] != 0 ? Math.min(first[i] - 1, oldest[i]) : oldest[i];
      }
      return State.GONE;
    }
    return State.MORE;
  }

  private boolean isAllFound() {
    for (int i = 0; i < lsns.length; i++) {
      if (isWatched(i) && first[i] == 0) {
        return false;
      }
    }
    return true;
  }
}
