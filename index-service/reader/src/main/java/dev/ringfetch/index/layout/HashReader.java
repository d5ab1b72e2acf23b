package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;
import java.util.List;

/**
 * The reader of a hash index: finds values in index memory without locks, while the owners of the
 * partitions write. Client and server use the same one.
 *
 * <p>Each answer is linearizable: a value that was current, or an absence that was true, at some
 * moment of the call, in a state that only servers under the epoch of the {@link HashLocation} can
 * have changed. Every batch of loads begins with the gate and the index's open word; a reader loads
 * the serving word before its first batch.
 *
 * <p>Memory may contain anything: no content makes a method throw or take long. If memory was
 * unmapped, methods return {@link ReadResult#LOST}; in rare cases the {@link InternalError} reaches
 * the caller instead (see {@link dev.ringfetch.fabric.MemoryRegion#verify()}), which must treat it
 * as LOST.
 *
 * <p>Used by one thread at a time.
 */
public class HashReader implements KeyReader {
  /** Limit of the keys of one search. */
  private static final int MAX_TOGETHER = 64;

  final HashLocation location;
  private final Reads reads;
  private final GatedReads gated;
  private final TableView[] tables;
  private final Lookup[] lookups = new Lookup[MAX_TOGETHER];
  private byte[] keyCopy = new byte[64];
  boolean lost;

  /** Creates a reader, the only user of the reads. */
  public HashReader(Reads reads, HashLocation location) {
    final int partitions = location.partitions();
    if (Integer.bitCount(partitions) != 1 || partitions > RootDescriptor.MAX_PARTITIONS) {
      throw new IllegalArgumentException("not a power of two up to 256: partitions=" + partitions);
    }
    this.reads = reads;
    this.location = location;
    gated = new GatedReads(reads, location.epoch(), location.root(), location.incarnation());
    tables = new TableView[2 * partitions];
  }

  @Override
  public ReadResult get(byte[] key, int offset, int length, Found found) {
    if (lost) {
      return ReadResult.LOST;
    }
    try {
      start(0, key, offset, length, found);
      run(0, 1);
      reads.verify();
      return lookups[0].result();
    } catch (InternalError e) {
      lost = true;
      reads.absorb(e);
      return ReadResult.LOST;
    }
  }

  @Override
  public ReadResult get(ByteString key, Found found) {
    final int length = key.size();
    ensureKeys(length);
    key.copyTo(keyCopy, 0);
    return get(keyCopy, 0, length, found);
  }

  /**
   * Reads the values of several keys, each on its own, in about as many batches as one key takes.
   *
   * @param keys the keys
   * @param found receives the value of the key at the same place
   * @param results receives the result of the key at the same place
   */
  public void batchGet(List<ByteString> keys, Found[] found, ReadResult[] results) {
    for (int done = 0; done < keys.size(); done += MAX_TOGETHER) {
      final int count = Math.min(MAX_TOGETHER, keys.size() - done);
      try {
        if (!lost) {
          startAll(keys, done, count, found);
          run(0, count);
          reads.verify();
        }
      } catch (InternalError e) {
        lost = true;
        reads.absorb(e);
      }
      for (int i = 0; i < count; i++) {
        results[done + i] = lost ? ReadResult.LOST : lookups[i].result();
      }
    }
  }

  private void startAll(List<ByteString> keys, int first, int count, Found[] found) {
    int length = 0;
    for (int i = 0; i < count; i++) {
      length += keys.get(first + i).size();
    }
    ensureKeys(length);
    int offset = 0;
    for (int i = 0; i < count; i++) {
      final ByteString key = keys.get(first + i);
      key.copyTo(keyCopy, offset);
      start(i, keyCopy, offset, key.size(), found[first + i]);
      offset += key.size();
    }
  }

  private void ensureKeys(int length) {
    if (keyCopy.length < length) {
      keyCopy = new byte[Math.max(length, 2 * keyCopy.length)];
    }
  }

  private void start(int number, byte[] key, int offset, int length, Found found) {
    if (lookups[number] == null) {
      lookups[number] = new Lookup(location.incarnation());
    }
    final long hash = KeyHash.of(key, offset, length, location.seed());
    final int partition =
        KeyHash.partition(key, offset, length, hash, location.seed(), location.partitions());
    lookups[number].key(key, offset, length, hash);
    final long clock = location.root() + RootDescriptor.clock(partition, location.partitions());
    lookups[number].start(table(partition, 0), table(partition, 1), clock, found);
  }

  private TableView table(int partition, int table) {
    final int number = 2 * partition + table;
    if (tables[number] == null) {
      final long head = RootDescriptor.table(location.root(), partition, table);
      tables[number] = new TableView(head, reads.segmentShift());
    }
    return tables[number];
  }

  /** Runs lookups together to their ends. */
  private void run(int from, int to) {
    if (!gated.isServed()) {
      endAll(from, to, ReadResult.CLOSED);
      return;
    }
    while (planAll(from, to)) {
      final int status = gated.execute();
      if (status == Reads.UNKNOWN_ADDRESS && to - from > 1) {
        // One key's address fails the whole batch: read each key on its own.
        for (int i = from; i < to; i++) {
          run(i, i + 1);
        }
        return;
      }
      if (status == Reads.DONE) {
        for (int i = from; i < to; i++) {
          if (!lookups[i].isDone()) {
            lookups[i].take(reads);
          }
        }
      } else {
        lost |= status == Reads.LOST;
        endAll(from, to, GatedReads.result(status));
      }
    }
  }

  private boolean planAll(int from, int to) {
    gated.begin();
    boolean more = false;
    for (int i = from; i < to; i++) {
      if (!lookups[i].isDone()) {
        lookups[i].plan(reads);
        more = true;
      }
    }
    return more;
  }

  private void endAll(int from, int to, ReadResult result) {
    for (int i = from; i < to; i++) {
      if (!lookups[i].isDone()) {
        lookups[i].end(result);
      }
    }
  }
}
