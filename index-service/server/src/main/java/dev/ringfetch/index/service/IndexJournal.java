package dev.ringfetch.index.service;

import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalThread;
import dev.ringfetch.index.outcome.ClientLog;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.store.StoreMemory;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The journal of a server's indexes, in its data directory, with the thread that drives it, and the
 * indexes that were found in it.
 *
 * <p>Safe for use by many threads.
 */
final class IndexJournal implements ClientLog, AutoCloseable {
  private static final Logger LOGGER = System.getLogger(IndexJournal.class.getName());

  private final Journal journal;
  private final JournalThread thread;
  private List<RecoveredIndex> recovered;
  private List<NumberedClient> clients;
  private long newest;

  private IndexJournal(Journal journal, JournalReplay replay) {
    this.journal = journal;
    recovered = List.copyOf(replay.indexes());
    clients = List.copyOf(replay.clients());
    newest = replay.newest();
    thread = new JournalThread(journal);
  }

  /**
   * Opens the journal of a data directory, or creates it, and builds the indexes that it has.
   *
   * @param memory where they are built; nobody may read it yet
   * @param outcomes bounds the outcomes of writes with numbers
   * @param interval see {@link IndexMemory.Context#syncInterval}
   * @throws IOException if the disk fails, the journal is damaged, or the memory is too small
   */
  static IndexJournal open(
      DataDirectory data, StoreMemory memory, OutcomeBudget outcomes, Duration interval)
      throws IOException {
    final JournalReplay replay = new JournalReplay(memory, outcomes);
    final long beginNs = System.nanoTime();
    final Journal journal =
        Journal.open(
            new HostDisk(data.path()),
            new Journal.Context()
                .owner(data.origin(), data.incarnation())
                .interval(interval.toNanos())
                .errors(
                    failure ->
                        LOGGER.log(Level.ERROR, "nothing is written any more: " + data, failure)),
            replay);
    if (replay.records() > 0) {
      LOGGER.log(
          Level.INFO,
          "recovered "
              + replay.indexes().size()
              + " indexes from "
              + replay.records()
              + " records in "
              + (System.nanoTime() - beginNs) / 1_000_000
              + " ms: data="
              + data);
    }
    boolean opened = false;
    try {
      if (!journal.wasClean()) {
        journal.skip();
        replay.indexes().forEach(index -> index.skip(Journal.LOST_LIMIT));
      }
      final IndexJournal started = new IndexJournal(journal, replay);
      opened = true;
      return started;
    } finally {
      if (!opened) {
        journal.abandon();
      }
    }
  }

  /** Whether a directory has a journal, or a part of one. */
  static boolean isIn(DataDirectory data) throws IOException {
    return Journal.isIn(new HostDisk(data.path()));
  }

  /** The indexes that were found, to be served. Called once. */
  List<RecoveredIndex> takeRecovered() {
    final List<RecoveredIndex> taken = recovered;
    recovered = List.of();
    return taken;
  }

  /** The clients that were found. Called once. */
  List<NumberedClient> takeClients() {
    final List<NumberedClient> taken = clients;
    clients = List.of();
    return taken;
  }

  @Override
  public boolean opened(long client, long firstIncomplete, Runnable done) {
    return journal.openClient(client, firstIncomplete, done);
  }

  @Override
  public void closed(long client) {
    journal.closeClient(client, () -> {});
  }

  /** A number for a new index. One thread at a time. */
  long nextNumber() {
    return ++newest;
  }

  /** The log of a partition, behind the last LSN that there was. */
  CommitLog log(CatalogEntry entry, int partition, long last) {
    return journal.log(entry.number(), partition, entry.definition().durability(), last);
  }

  /**
   * Records that there is an index from now on. One thread at a time.
   *
   * @return is completed, normally, when the record is durable or the journal has failed; null if
   *     the disk is full, and nothing was recorded
   */
  CompletableFuture<Void> create(CatalogEntry entry) {
    final CompletableFuture<Void> created = new CompletableFuture<>();
    return journal.create(
            entry.number(), entry.name(), entry.definition(), () -> created.complete(null))
        ? created
        : null;
  }

  /**
   * Records that there is an index no more. One thread at a time.
   *
   * @param done is run when the record is durable or the journal has failed, on any thread
   * @return false if the disk is full, and nothing was recorded
   */
  boolean drop(CatalogEntry entry, Runnable done) {
    return journal.drop(entry.number(), done);
  }

  /** Why nothing is written any more, or null. */
  IOException failure() {
    return journal.failure();
  }

  /** Why the journal cannot grow now, or null. */
  IOException obstacle() {
    return journal.obstacle();
  }

  /** Writes what is left. No write may be under way. */
  @Override
  public void close() {
    try {
      thread.close();
    } catch (IOException e) {
      LOGGER.log(Level.ERROR, "the journal did not end in order", e);
    }
  }
}
