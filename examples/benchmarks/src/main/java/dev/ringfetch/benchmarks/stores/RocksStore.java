package dev.ringfetch.benchmarks.stores;

import java.nio.file.Path;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** A RocksDB database in this process; each write is synced before it returns. */
final class RocksStore implements Store {
  private static final int BATCH = 1_000;

  private final Options options;
  private final WriteOptions synced;
  private final RocksDB db;

  RocksStore(Path folder) {
    RocksDB.loadLibrary();
    options = new Options().setCreateIfMissing(true);
    synced = new WriteOptions().setSync(true);
    try {
      db = RocksDB.open(options, folder.toString());
    } catch (RocksDBException e) {
      throw new IllegalStateException("cannot open " + folder, e);
    }
  }

  @Override
  public Session open() {
    return new Operations();
  }

  @Override
  public void clear() {
    throw new UnsupportedOperationException("its folder is new");
  }

  @Override
  public long usedBytes() {
    throw new UnsupportedOperationException("not measured");
  }

  @Override
  public void close() {
    db.close();
    synced.close();
    options.close();
  }

  private final class Operations implements Session {
    private final byte[] key = new byte[Entries.KEY_LENGTH];
    private final byte[] value = new byte[Entries.VALUE_LENGTH];

    @Override
    public boolean get(long number) {
      Entries.putKey(number, key);
      try {
        final byte[] found = db.get(key);
        return found != null && Entries.isValue(number, found, 0, found.length);
      } catch (RocksDBException e) {
        throw new IllegalStateException("not read: number=" + number, e);
      }
    }

    @Override
    public void put(long number, long stamp) {
      Entries.putKey(number, key);
      Entries.putValue(number, stamp, value);
      try {
        db.put(synced, key, value);
      } catch (RocksDBException e) {
        throw new IllegalStateException("not written: number=" + number, e);
      }
    }

    @Override
    public void putAll(long first, long end) {
      for (long from = first; from < end; from += BATCH) {
        try (WriteBatch batch = new WriteBatch()) {
          for (long number = from; number < Math.min(end, from + BATCH); number++) {
            Entries.putKey(number, key);
            Entries.putValue(number, 0, value);
            batch.put(key, value);
          }
          db.write(synced, batch);
        } catch (RocksDBException e) {
          throw new IllegalStateException("not written: from=" + from, e);
        }
      }
    }
  }
}
