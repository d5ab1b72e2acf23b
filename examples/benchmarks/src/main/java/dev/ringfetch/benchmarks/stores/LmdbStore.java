package dev.ringfetch.benchmarks.stores;

import static java.nio.ByteBuffer.allocateDirect;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.lmdbjava.Cursor;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.GetOp;
import org.lmdbjava.Txn;

/** An LMDB database in a file that several processes map, without synchronisation to a disk. */
final class LmdbStore implements Store {
  /** What its fastest buffers need of the JVM. */
  static final List<String> FLAGS =
      List.of(
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");

  private static final long BYTES_PER_ENTRY = 512; // of addresses, far more than are used
  private static final long MIN_BYTES = 64 << 20;
  private static final int READERS = 64;
  private static final int BATCH = 10_000;

  private final Path file;
  private final Env<ByteBuffer> env;
  private final Dbi<ByteBuffer> dbi;

  LmdbStore(Path file, int entries) {
    this.file = file;
    this.env =
        Env.create()
            .setMapSize(Math.max(MIN_BYTES, entries * BYTES_PER_ENTRY))
            .setMaxReaders(READERS)
            .setMaxDbs(1)
            .open(
                file.toFile(),
                EnvFlags.MDB_NOSUBDIR,
                EnvFlags.MDB_NOSYNC,
                EnvFlags.MDB_WRITEMAP,
                EnvFlags.MDB_NOTLS);
    this.dbi = env.openDbi("entries", DbiFlags.MDB_CREATE);
  }

  @Override
  public Session open() {
    return new Operations();
  }

  @Override
  public void clear() {
    try (Txn<ByteBuffer> txn = env.txnWrite()) {
      dbi.drop(txn);
      txn.commit();
    }
  }

  @Override
  public long usedBytes() {
    return DiskUse.of(file);
  }

  @Override
  public void close() {
    env.close();
  }

  /** A transaction for each operation: each read sees what was committed before it. */
  private final class Operations implements Session {
    private final Txn<ByteBuffer> reading = env.txnRead();
    private final ByteBuffer key = allocateDirect(Entries.KEY_LENGTH);
    private final ByteBuffer value = allocateDirect(Entries.VALUE_LENGTH);
    private final byte[] keyBytes = new byte[Entries.KEY_LENGTH];
    private final byte[] valueBytes = new byte[Entries.VALUE_LENGTH];
    private final ScanCheck check = new ScanCheck();

    Operations() {
      reading.reset();
    }

    @Override
    public boolean get(long number) {
      putKey(number);
      reading.renew();
      try {
        final ByteBuffer found = dbi.get(reading, key);
        if (found == null || found.remaining() != valueBytes.length) {
          return false;
        }
        found.get(found.position(), valueBytes);
      } finally {
        reading.reset();
      }
      return Entries.isValue(number, valueBytes, 0, valueBytes.length);
    }

    /** A cursor of one transaction, thus of one moment. */
    @Override
    public int scan(long number, int limit) {
      key.clear().put(check.begin(number)).flip();
      reading.renew();
      try (Cursor<ByteBuffer> cursor = dbi.openCursor(reading)) {
        boolean isThere = cursor.get(key, GetOp.MDB_SET_RANGE);
        for (int i = 0; isThere && i < limit; i++) {
          final int keyLength = copy(cursor.key(), keyBytes);
          final int valueLength = copy(cursor.val(), valueBytes);
          check.take(keyBytes, 0, keyLength, valueBytes, 0, valueLength);
          isThere = i + 1 < limit && cursor.next();
        }
      } finally {
        reading.reset();
      }
      return check.end();
    }

    /** Copies as much as there is room for; returns the length. */
    private static int copy(ByteBuffer from, byte[] to) {
      from.get(from.position(), to, 0, Math.min(from.remaining(), to.length));
      return from.remaining();
    }

    @Override
    public void put(long number, long stamp) {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        put(txn, number, stamp);
        txn.commit();
      }
    }

    private void put(Txn<ByteBuffer> txn, long number, long stamp) {
      putKey(number);
      Entries.putValue(number, stamp, valueBytes);
      value.clear().put(valueBytes).flip();
      if (!dbi.put(txn, key, value)) {
        throw new IllegalStateException("not written: number=" + number);
      }
    }

    @Override
    public void putAll(long first, long end) {
      for (long from = first; from < end; from += BATCH) {
        try (Txn<ByteBuffer> txn = env.txnWrite()) {
          for (long number = from; number < Math.min(end, from + BATCH); number++) {
            put(txn, number, 0);
          }
          txn.commit();
        }
      }
    }

    private void putKey(long number) {
      Entries.putKey(number, keyBytes);
      key.clear().put(keyBytes).flip();
    }

    @Override
    public void close() {
      reading.close();
    }
  }
}
