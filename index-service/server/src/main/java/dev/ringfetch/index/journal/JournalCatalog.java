package dev.ringfetch.index.journal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.List;

/**
 * The catalog of a journal: the records that concern no entry, such as creations and removals of
 * indexes. They are rare and always synced, and their authors are notified of the sync.
 *
 * <p>Safe for use by many threads.
 */
final class JournalCatalog {
  private record Waiter(long lsn, Runnable done) {}

  /** The subject of a record: an index, or a client. */
  private record Subject(long index, long client, long request) {}

  private final Journal journal;
  private final JournalSource source;

  @GuardedBy("waiters")
  private final List<Waiter> waiters = new ArrayList<>();

  @GuardedBy("waiters")
  private long lsn;

  /** Creates the catalog, whose next record follows the one with this LSN. */
  JournalCatalog(Journal journal, long last) {
    this.journal = journal;
    source = new JournalSource(journal, true, last, this::synced);
    lsn = last;
  }

  JournalSource source() {
    return source;
  }

  /** LSN of the last appended record. */
  long last() {
    synchronized (waiters) {
      return lsn;
    }
  }

  /**
   * Appends a record.
   *
   * @param done runs once the record is durable, or the journal has failed; on the journal's thread
   *     or the caller's
   * @return false if there is no room for the record, and nothing was done
   */
  boolean append(int type, long index, ByteString name, ByteString value, Runnable done) {
    return append(type, new Subject(index, 0, 0), name, value, done);
  }

  /** As above, for a record of a client. */
  boolean append(int type, long client, long request, Runnable done) {
    return append(type, new Subject(0, client, request), ByteString.EMPTY, ByteString.EMPTY, done);
  }

  private boolean append(
      int type, Subject subject, ByteString name, ByteString value, Runnable done) {
    synchronized (waiters) {
      final int refused =
          source
              .from(subject.client, subject.request)
              .append(type, 0, subject.index, 0, lsn + 1, name, value);
      if (refused == 0) {
        lsn++;
        waiters.add(new Waiter(lsn, done));
        return true;
      }
      if (refused != Journal.FAILED) {
        return false;
      }
    }
    done.run();
    return true;
  }

  private void synced() {
    final List<Runnable> ready = new ArrayList<>();
    synchronized (waiters) {
      waiters.removeIf(
          waiter -> {
            final boolean isReady = journal.isFailed() || waiter.lsn <= source.durable();
            if (isReady) {
              ready.add(waiter.done);
            }
            return isReady;
          });
    }
    ready.forEach(Runnable::run);
  }
}
