package dev.ringfetch.index.host;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.KeyReader;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.layout.SpatialReader;
import dev.ringfetch.index.layout.SpatialSearch;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.OwnerContext;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.PartitionContext;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.OrderedIndex;
import dev.ringfetch.index.store.SpatialIndex;
import dev.ringfetch.index.store.StoredIndex;
import dev.ringfetch.index.v1.Appends;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexKind;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * An index that a server serves: its store, the writers of its partitions, and readers for the
 * server's own threads, which never wait for a writer.
 *
 * <p>Safe for use by many threads.
 */
public final class ServedIndex {
  /** Name of the index that the empty name stands for. */
  public static final String DEFAULT_NAME = "default";

  /** The most indexes of a server or a cluster. */
  public static final int MAX_INDEXES = 1024;

  /** Writes that may wait in one partition: more than a server's connections have under way. */
  public static final int QUEUE_CAPACITY = 4096;

  /** How long a reader tries again where a key's partition keeps changing: several splits. */
  private static final int PATIENCE_NS = 20_000;

  private final long service = ThreadLocalRandom.current().nextLong();
  private final CatalogEntry entry;
  private final StoredIndex index;
  private final Partition[] partitions;
  private final CommitLog[] logs;
  private final ThreadLocal<LocalReader> readers;
  private volatile boolean dropped;

  private final Leadership leadership;

  /**
   * Serves an index.
   *
   * @param leadership of its group
   * @param logs gives each partition its log.
   */
  public ServedIndex(
      CatalogEntry entry,
      StoredIndex index,
      Leadership leadership,
      IntFunction<CommitLog> logs,
      OwnerContext writers) {
    this.entry = entry;
    this.index = index;
    this.leadership = leadership;
    partitions = new Partition[index.partitions()];
    this.logs = new CommitLog[partitions.length];
    for (int i = 0; i < partitions.length; i++) {
      this.logs[i] = logs.apply(i);
      partitions[i] =
          new Partition(
              index.partition(i),
              this.logs[i],
              new PartitionContext(
                  QUEUE_CAPACITY, writers, writers.outcomes().apply(i), appends()));
    }
    readers = ThreadLocal.withInitial(() -> new LocalReader(index.newReader()));
  }

  /** The leadership of its group. */
  public Leadership leadership() {
    return leadership;
  }

  /** Whether a read has to ask other members first whether this node leads the index still. */
  public boolean needsBarrier() {
    return !leadership.alone().getAsBoolean();
  }

  public String name() {
    return entry.name();
  }

  /** A number by which this service differs from others of the index, of other processes, too. */
  public long service() {
    return service;
  }

  public long incarnation() {
    return entry.definition().incarnation();
  }

  /** The immutable properties of the index. */
  public CatalogEntry entry() {
    return entry;
  }

  public Durability durability() {
    return entry.definition().durability();
  }

  /** The limits of its records if it is an index for appends; else null. */
  public @Nullable Appends appends() {
    return entry.definition().appends();
  }

  public IndexKind kind() {
    if (index instanceof SpatialIndex) {
      return IndexKind.SPATIAL;
    }
    return index instanceof OrderedIndex ? IndexKind.ORDERED : IndexKind.HASH;
  }

  /** Its store if it is a hash index or a spatial one, else null. */
  public HashIndex hash() {
    return index instanceof HashIndex hash ? hash : null;
  }

  /** Its store if it is an ordered index, else null. */
  public OrderedIndex ordered() {
    return index instanceof OrderedIndex ordered ? ordered : null;
  }

  public int partitions() {
    return partitions.length;
  }

  public long count() {
    return index.count();
  }

  /** The writer of a key's partition. */
  public Partition partition(ByteString key) {
    return partitions[index.partitionOf(key)];
  }

  /** The writer of a partition. */
  public Partition partition(int number) {
    return partitions[number];
  }

  /** The log of a partition. */
  public CommitLog log(int number) {
    return logs[number];
  }

  /**
   * Looks at the clocks of all partitions.
   *
   * @param tell is told for each partition, on any thread, how that ended: as a write does.
   */
  public void tick(IntConsumer tell) {
    for (final Partition partition : partitions) {
      final int refused = partition.submit(new Write(write -> tell.accept(write.outcome())).tick());
      if (refused != 0) {
        tell.accept(refused);
      }
    }
  }

  /** Takes no writes of clients any more, as the server ends; all else goes on. */
  public void endWrites() {
    for (final Partition partition : partitions) {
      partition.endWrites();
    }
  }

  /** Number of a key's partition. */
  public int partitionOf(ByteString key) {
    return index.partitionOf(key);
  }

  /** The present thread's reader. */
  public LocalReader reader() {
    return readers.get();
  }

  /** Whether the index was dropped: its writers take nothing any more. */
  public boolean isDropped() {
    return dropped;
  }

  /** Whether its memory was found damaged: all calls end in error. */
  public boolean isRefused() {
    return index.isRefused();
  }

  /** Whether the gate names this server. */
  public boolean isServed() {
    return index.isServed();
  }

  /** Refuses the index, whose memory was found damaged. */
  public void refuse() {
    index.refuse();
  }

  /** Closes the index to all readers, before its name is free for another. */
  public void closeToReaders() {
    dropped = true;
    index.closeToReaders();
  }

  /**
   * Ends the writers and gives the memory back. Called once, after {@link #closeToReaders}.
   *
   * @param done is run at the end, on any thread.
   */
  public void drop(Runnable done) {
    final AtomicInteger open = new AtomicInteger(partitions.length);
    for (final Partition partition : partitions) {
      partition.close(
          () -> {
            if (open.decrementAndGet() == 0) {
              index.drop();
              done.run();
            }
          });
    }
  }

  /** A reader and what it found last. Used by one thread. */
  public static final class LocalReader {
    private final KeyReader reader;
    private final Found found = new Found();

    public LocalReader(KeyReader reader) {
      this.reader = reader;
    }

    /**
     * Reads a key. It is undecided where the key's partition keeps changing for longer than a
     * thread of a transport may wait, or the memory was damaged: the owner decides then. It is
     * closed where the index was dropped or refused, or the gate was moved.
     */
    public ReadResult read(ByteString key) {
      ReadResult result = reader.get(key, found);
      if (result == ReadResult.UNDECIDED) {
        final long endNs = System.nanoTime() + PATIENCE_NS;
        do {
          Thread.onSpinWait();
          result = reader.get(key, found);
        } while (result == ReadResult.UNDECIDED && System.nanoTime() - endNs < 0);
      }
      return result;
    }

    /** Reads a key that is part of an array, once. */
    public ReadResult read(byte[] key, int offset, int length) {
      return reader.get(key, offset, length, found);
    }

    /** The result of the last read, if it has found an entry; valid until the next one. */
    public Found found() {
      return found;
    }

    /** Reads on in an ordered index, as {@link OrderedReader#scan} does; undecided as a key is. */
    public ReadResult scan(ScanCursor cursor, EntrySink sink) {
      final OrderedReader ordered = (OrderedReader) reader;
      ReadResult result = ordered.scan(cursor, sink);
      if (result == ReadResult.UNDECIDED) {
        final long endNs = System.nanoTime() + PATIENCE_NS;
        do {
          Thread.onSpinWait();
          result = ordered.scan(cursor, sink);
        } while (result == ReadResult.UNDECIDED && System.nanoTime() - endNs < 0);
      }
      return result;
    }

    /** Goes on with a search of a spatial index, as {@link SpatialReader#search} does. */
    public ReadResult search(SpatialSearch search, EntrySink sink) {
      return ((SpatialReader) reader).search(search, sink);
    }

    /** The entry that the last read found, of this key. */
    public Entry entry(ByteString key) {
      return Entry.newBuilder()
          .setKey(key)
          .setValue(found.value())
          .setVersion(found.version())
          .setDeadlineMs(found.deadline())
          .build();
    }
  }
}
