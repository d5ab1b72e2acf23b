package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.store.HashIndex;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.agrona.ErrorHandler;

/**
 * An index that a server serves: its store, the writers of its partitions, and readers for the
 * server's own threads, which never wait for a writer.
 *
 * <p>Safe for use by many threads.
 */
final class ServedIndex {
  /** Writes that may wait in one partition: more than a server's connections have under way. */
  static final int QUEUE_CAPACITY = 4096;

  /** Reads of one key that may be undecided one after the other, about a second together. */
  private static final int ATTEMPTS = 10_000;

  /** Attempts without a pause: a split is over within a few. */
  private static final int EAGER_ATTEMPTS = 16;

  private static final int PAUSE_NS = 100_000;

  private final String name;
  private final long incarnation;
  private final HashIndex index;
  private final Partition[] partitions;
  private final ThreadLocal<LocalReader> readers;
  private volatile boolean dropped;

  /**
   * Serves a new index.
   *
   * @param incarnation as answers name it.
   * @param errors is told what fails in a writer, by any thread.
   */
  ServedIndex(String name, long incarnation, HashIndex index, ErrorHandler errors) {
    this.name = name;
    this.incarnation = incarnation;
    this.index = index;
    partitions = new Partition[index.partitions()];
    for (int i = 0; i < partitions.length; i++) {
      partitions[i] =
          new Partition(index.partition(i), new ImmediateLog(0), QUEUE_CAPACITY, errors);
    }
    readers = ThreadLocal.withInitial(() -> new LocalReader(index.newReader()));
  }

  String name() {
    return name;
  }

  long incarnation() {
    return incarnation;
  }

  HashLocation location() {
    return index.location();
  }

  int partitions() {
    return partitions.length;
  }

  long count() {
    return index.count();
  }

  /** The writer of a key's partition. */
  Partition partition(ByteString key) {
    return partitions[index.partitionOf(key)];
  }

  /** The present thread's reader. */
  LocalReader reader() {
    return readers.get();
  }

  /** Whether the index was dropped: its writers take nothing any more. */
  boolean isDropped() {
    return dropped;
  }

  /** Closes the index to all readers, before its name is free for another. */
  void closeToReaders() {
    dropped = true;
    index.closeToReaders();
  }

  /**
   * Ends the writers and gives the memory back. Called once, after {@link #closeToReaders}.
   *
   * @param done is run at the end, on any thread.
   */
  void drop(Runnable done) {
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
  static final class LocalReader {
    private final HashReader reader;
    private final Found found = new Found();

    LocalReader(HashReader reader) {
      this.reader = reader;
    }

    /**
     * Reads a key. It is undecided where the key's partition has kept changing for very long, and
     * closed where the index was dropped.
     */
    ReadResult read(ByteString key) {
      ReadResult result = reader.get(key, found);
      for (int i = 1; result == ReadResult.UNDECIDED && i < ATTEMPTS; i++) {
        if (i < EAGER_ATTEMPTS) {
          Thread.onSpinWait();
        } else {
          LockSupport.parkNanos(PAUSE_NS); // the writer may wait for this processor
        }
        result = reader.get(key, found);
      }
      return result;
    }

    /** What the last read found. */
    Found found() {
      return found;
    }
  }
}
