package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.store.Expiry;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GroupState;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Entries on the heap, by partition; real partitions write them while the replica leads. */
final class SimulatedStore implements GroupStore {
  static final int PARTITIONS = 2;
  private static final int PIECE_LENGTH = 400;
  private static final ByteString OVERSIZED =
      ByteString.copyFrom(new byte[SimulatedNetwork.MESSAGE_LIMIT + 1]);

  private final ReplicationWorld world;
  private final SimulatedNode node;
  private final long group;
  private final Book[] books = new Book[PARTITIONS];
  private final Partition[] partitions = new Partition[PARTITIONS];
  private final CommitLog[] logs = new CommitLog[PARTITIONS];
  private final Map<Long, Boolean> clients = new TreeMap<>();
  private GroupLog log;
  private boolean cleared;
  private boolean leading;
  private boolean stalls;
  private boolean oversized;
  private int generation;

  SimulatedStore(ReplicationWorld world, SimulatedNode node, long group) {
    this.group = group;
    this.world = world;
    this.node = node;
  }

  /** One partition's entries. */
  private final class Book extends HeapEntries {
    final int partition;
    long last;

    Book(int partition) {
      this.partition = partition;
    }

    @Override
    public void put(ByteString key, ByteString value, long version) {
      world.applied(group, partition, version, key, value);
      if (takesAppends(partition)) {
        world.appends().applied(key, value, version, last());
      }
      last = Math.max(last, version);
      super.put(key, value, version);
    }

    @Override
    public @Nullable Expiry expiry() {
      return takesAppends(partition) ? world.appends().expiry() : null;
    }
  }

  private boolean takesAppends(int partition) {
    return world.appends() != null && partition == SimulatedAppends.PARTITION;
  }

  private int partition(ByteString key) {
    return Math.floorMod(key.hashCode(), world.appends() == null ? PARTITIONS : 1);
  }

  @Override
  public void clear(GroupState state) {
    if (leading) {
      throw new AssertionError("cleared while it serves");
    }
    cleared = true;
    generation++;
    clients.clear();
    for (int i = 0; i < PARTITIONS; i++) {
      books[i] = new Book(i);
    }
  }

  @Override
  public void apply(JournalRecord record) throws GroupStoreException {
    check(record);
    switch (record.type()) {
      case RecordDescriptor.PUT -> {
        final Book book = books[record.partition()];
        if (record.lsn() > book.version(record.key())) {
          book.put(record.key(), record.value(), record.lsn());
        }
        book.last = Math.max(book.last, record.lsn());
      }
      case RecordDescriptor.DELETE -> {
        final Book book = books[record.partition()];
        world.applied(group, record.partition(), record.lsn(), record.key(), null);
        if (record.lsn() > book.version(record.key())) {
          book.delete(record.key());
        }
        book.last = Math.max(book.last, record.lsn());
      }
      case RecordDescriptor.GAP -> {
        final Book book = books[record.partition()];
        book.last = Math.max(book.last, record.lsn());
      }
      case RecordDescriptor.OPEN_CLIENT -> clients.put(record.client(), true);
      case RecordDescriptor.CLOSE_CLIENT -> clients.remove(record.client());
      default -> throw new GroupStoreException("type=" + record.type());
    }
    if (world.mayFail(node)) {
      throw new GroupStoreException("no memory is left");
    }
  }

  @Override
  public void restore(JournalRecord record) throws GroupStoreException {
    check(record);
    if (record.type() == RecordDescriptor.PARTITION) {
      books[record.partition()].last = Math.max(books[record.partition()].last, record.lsn());
    } else {
      apply(record);
    }
  }

  private void check(JournalRecord record) {
    if (!cleared || leading || record.index() != group) {
      throw new AssertionError("applied what cannot be: " + record);
    }
  }

  @Override
  public void lead(GroupLog groupLog, GroupState state) {
    world.onLead(node, this, state);
    leading = true;
    log = groupLog;
    for (int i = 0; i < PARTITIONS; i++) {
      logs[i] = groupLog.partition(i, books[i].last);
      partitions[i] =
          takesAppends(i)
              ? world.appends().partition(books[i], logs[i], node.id())
              : new Partition(books[i], logs[i], 64, world::onError, Handover.never());
    }
  }

  @Override
  public void reconfigured(GroupState state) {
    if (!leading) {
      throw new AssertionError("reconfigured and does not lead");
    }
  }

  @Override
  public void endWrites() {
    if (leading) {
      for (final Partition partition : partitions) {
        partition.endWrites();
      }
    }
  }

  @Override
  public void follow() {
    if (leading) {
      leading = false;
      generation++;
      for (final Partition partition : partitions) {
        partition.close(() -> {});
      }
    }
    cleared = false;
  }

  boolean isLeading() {
    return leading;
  }

  /** Changes when what was read before is gone. */
  int generation() {
    return generation;
  }

  /** LSN up to which a partition has all. */
  long last(int partition) {
    return books[partition].last;
  }

  /** The same of all partitions; empty before any entry. */
  long[] lasts() {
    return Stream.of(books).filter(Objects::nonNull).mapToLong(book -> book.last).toArray();
  }

  int submit(Write write, ByteString key) {
    return partitions[partition(key)].submit(write);
  }

  /** The writer of a partition, while the replica leads. */
  Partition partition(int number) {
    return partitions[number];
  }

  Entry read(ByteString key) {
    return entry(partition(key), key);
  }

  Entry entry(int partition, ByteString key) {
    return books[partition].entry(key);
  }

  Collection<Entry> entries(int partition) {
    return books[partition].entries().values();
  }

  GroupLog log() {
    return log;
  }

  boolean hasClient(long client) {
    return clients.containsKey(client);
  }

  /** All that there is, for comparison. */
  String content() {
    final StringBuilder text = new StringBuilder();
    for (final Book book : books) {
      text.append(book.partition).append(": ");
      book.entries()
          .forEach(
              (key, entry) ->
                  text.append(key.toStringUtf8())
                      .append('=')
                      .append(entry.getVersion())
                      .append(' '));
    }
    return text.toString();
  }

  @Override
  public GroupSnapshot snapshot(Runnable wake) {
    return oversized || stalls
        ? new SamePieces(oversized ? OVERSIZED : ByteString.EMPTY)
        : new Walk(wake);
  }

  /** Lets snapshots that begin from now on consist of pieces that no node takes, or not. */
  void oversize(boolean now) {
    oversized = now;
  }

  /** Lets snapshots that begin from now on come to no end, or not. */
  void stall(boolean now) {
    stalls = now;
  }

  /** A snapshot of the same piece again and again; if it is empty, nothing ever comes. */
  private record SamePieces(ByteString piece) implements GroupSnapshot {
    @Override
    public ByteString next() {
      return piece;
    }

    @Override
    public boolean isFailed() {
      return false;
    }

    @Override
    public void close() {}
  }

  /** A fuzzy snapshot: each piece shows the entries as they are when it is taken. */
  private final class Walk implements GroupSnapshot {
    private final int began = generation;
    private final ArrayDeque<Integer> left = new ArrayDeque<>();
    private ByteString from; // key before the next one; null: at the begin
    private final long[] through = new long[PARTITIONS];
    private final long beganNs = world.time().nowNs();
    private boolean ended;
    private final ArrayDeque<ByteString> taken = new ArrayDeque<>();
    private boolean isTaken;

    Walk(Runnable wake) {
      for (int i = 0; i < PARTITIONS; i++) {
        left.add(i);
        through[i] = leading ? logs[i].committed() : books[i].last;
      }
      // The partitions apply what is committed as soon as the owner has released its token.
      final boolean isEager = world.time().oneIn(2);
      world
          .time()
          .after(
              1,
              () -> {
                if (isEager && !isFailed()) {
                  takeAll();
                }
                wake.run();
              });
    }

    private void takeAll() {
      ByteString piece;
      while ((piece = next()) != null) {
        taken.add(piece);
      }
      ended = false;
      isTaken = true;
    }

    @Override
    public ByteString next() {
      if (isTaken) {
        return isFailed() ? ByteString.EMPTY : taken.poll();
      }
      if (ended) {
        return null;
      }
      if (world.time().nowNs() == beganNs || isFailed()) {
        return ByteString.EMPTY;
      }
      final ByteArrayOutputStream piece = new ByteArrayOutputStream();
      while (!left.isEmpty() && piece.size() < PIECE_LENGTH) {
        step(piece);
      }
      if (piece.size() == 0 && left.isEmpty()) {
        ended = true;
        return null;
      }
      return ByteString.copyFrom(piece.toByteArray());
    }

    private void step(ByteArrayOutputStream piece) {
      final int partition = left.peek();
      Entry next = null;
      for (final Entry entry : books[partition].entries().values()) {
        if (from == null
            || ByteString.unsignedLexicographicalComparator().compare(entry.getKey(), from) > 0) {
          next = entry;
          break;
        }
      }
      if (next == null) {
        add(
            piece,
            partition,
            RecordDescriptor.PARTITION,
            through[partition],
            ByteString.EMPTY,
            ByteString.EMPTY);
        left.poll();
        from = null;
      } else {
        add(
            piece,
            partition,
            RecordDescriptor.PUT,
            next.getVersion(),
            next.getKey(),
            next.getValue());
        from = next.getKey();
      }
    }

    private void add(
        ByteArrayOutputStream piece,
        int partition,
        int type,
        long lsn,
        ByteString key,
        ByteString value) {
      final byte[] bytes = new byte[JournalRecord.aligned(key, value, 0)];
      new JournalRecord()
          .begin(bytes, 0, type, key, value)
          .partition(group, partition)
          .place(0, lsn)
          .end();
      piece.writeBytes(bytes);
    }

    @Override
    public boolean isFailed() {
      return began != generation;
    }

    @Override
    public void close() {
      ended = true;
    }
  }
}
