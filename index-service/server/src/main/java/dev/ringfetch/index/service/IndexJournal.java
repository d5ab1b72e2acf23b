package dev.ringfetch.index.service;

import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.host.CatalogState;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.CopiedLog;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalCounts;
import dev.ringfetch.index.journal.JournalReader;
import dev.ringfetch.index.journal.JournalThread;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.journal.RecoveryProgress;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.journal.SnapshotDescriptor;
import dev.ringfetch.index.journal.SnapshotSource;
import dev.ringfetch.index.journal.SnapshotThread;
import dev.ringfetch.index.outcome.ClientLog;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.replay.JournalReplay;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.replay.ReplayLanes;
import dev.ringfetch.index.snapshot.IndexSnapshots;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.JournalDescription;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The journal of a server's indexes, in its data directory, with the thread that drives it, and the
 * indexes that were found in it.
 *
 * <p>Safe for use by many threads.
 */
final class IndexJournal implements ClientLog, AutoCloseable {
  private static final Logger LOGGER = System.getLogger(IndexJournal.class.getName());

  private final Journal journal;
  private final DataDirectory data;
  private final JournalMetrics.Recovered recovery;
  private final JournalThread thread;
  private final JournalReader reader;
  private final long snapshotAfter;
  private volatile @Nullable SnapshotThread snapshotThread; // null until the indexes are there
  private volatile SnapshotCycle snapshots;
  private List<RecoveredIndex> recovered;
  private List<NumberedClient> clients;
  private long newest;

  private IndexJournal(
      Journal journal,
      DataDirectory data,
      JournalReplay replay,
      JournalMetrics.Recovered recovery,
      long snapshotAfter) {
    this.journal = journal;
    this.data = data;
    this.recovery = recovery;
    this.snapshotAfter = snapshotAfter;
    reader = journal.reader(new HostDisk(data.path()));
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
   * @param options of the journal
   * @throws IOException if the disk fails, the journal is damaged, or the memory is too small
   */
  static IndexJournal open(
      DataDirectory data, StoreMemory memory, OutcomeBudget outcomes, Options options)
      throws IOException {
    try (ReplayLanes lanes = new ReplayLanes()) {
      final JournalReplay replay = new JournalReplay(memory, outcomes, lanes);
      return open(data, replay, replay, options);
    }
  }

  /**
   * Opens the journal of a cluster's node, or creates it.
   *
   * @param groups takes its records
   * @throws IOException as {@link #open}, or as the directory is a copy: what the original has
   *     acknowledged since may count
   */
  static IndexJournal ofGroups(DataDirectory data, RecordSink groups, Options options)
      throws IOException {
    return open(data, JournalReplay.ofNothing(), groups, options);
  }

  private static IndexJournal open(
      DataDirectory data, JournalReplay replay, RecordSink sink, Options options)
      throws IOException {
    final long beginNs = System.nanoTime();
    final Journal journal =
        Journal.open(
            new HostDisk(data.path()),
            new Journal.Context()
                .owner(data.origin(), data.incarnation())
                .ownerCheck(data::checkOwned)
                .interval(options.interval().toNanos())
                .progress(options.progress())
                .syncs(options.metrics()::onSync, System::nanoTime)
                .obstacles(new DiskNotice(LOGGER, System::nanoTime, data.toString()))
                .errors(
                    failure -> {
                      LOGGER.log(Level.ERROR, "nothing is written any more: " + data, failure);
                      options.onFailure().run();
                    }),
            sink);
    for (final String name : journal.damagedSnapshots()) {
      LOGGER.log(
          Level.WARNING, "a damaged snapshot was passed over: file=" + name + " data=" + data);
    }
    final long recoveryNs = System.nanoTime() - beginNs;
    if (replay.records() > 0) {
      LOGGER.log(
          Level.INFO,
          "recovered "
              + replay.indexes().size()
              + " indexes from "
              + replay.records()
              + " records in "
              + recoveryNs / 1_000_000
              + " ms: data="
              + data);
    }
    boolean opened = false;
    try {
      if (sink != replay) {
        if (journal.isCopied()) {
          throw new IOException(
              "a copy of a node's directory has not all that the node has acknowledged since; start"
                  + " with an empty one: data="
                  + data);
        }
      } else if (journal.isCopied()) {
        final long salt = new SecureRandom().nextLong();
        journal.restore(salt);
        replay.restore(salt);
      } else if (!journal.wasClean()) {
        journal.skip();
        replay.skip();
      }
      final JournalMetrics.Recovered recovery =
          new JournalMetrics.Recovered(recoveryNs, replay.records());
      final IndexJournal started =
          new IndexJournal(journal, data, replay, recovery, options.snapshotAfter());
      options.metrics().onOpen(recovery, started.levels());
      opened = true;
      return started;
    } finally {
      if (!opened) {
        journal.abandon();
      }
    }
  }

  /**
   * Options of a journal.
   *
   * @param interval see {@link IndexMemory.Context#syncInterval}
   * @param snapshotAfter see {@link IndexMemory.Context#snapshotAfter}
   * @param progress is told how far the recovery has come
   * @param metrics see {@link IndexMemory.Context#journalMetrics}
   * @param onFailure see {@link IndexMemory.Context#onWritingEnded}
   */
  record Options(
      Duration interval,
      long snapshotAfter,
      RecoveryProgress progress,
      JournalMetrics metrics,
      Runnable onFailure) {}

  /**
   * Begins to take snapshots of indexes; without effect if it has. One thread at a time.
   *
   * @param catalog gives the indexes that are in the journal now
   * @param walk begins a walk over all clients that have numbers
   * @param removing is run before segments of the journal are removed
   */
  void startSnapshots(
      Supplier<CatalogState> catalog, Supplier<Iterator<NumberedClient>> walk, Runnable removing) {
    startSnapshots(wake -> new IndexSnapshots(journal, catalog, walk, wake, removing));
  }

  /**
   * Begins to take snapshots; else as above.
   *
   * @param source is made with what is to be run when there may be more to add
   */
  void startSnapshots(Function<Runnable, SnapshotSource> source) {
    if (snapshotThread != null) {
      return;
    }
    snapshots =
        new SnapshotCycle(
            journal, new HostDisk(data.path()), source.apply(this::wakeSnapshots), snapshotAfter);
    snapshotThread = new SnapshotThread(snapshots);
  }

  private void wakeSnapshots() {
    final SnapshotThread driven = snapshotThread;
    if (driven != null) {
      driven.wake();
    }
  }

  Journal journal() {
    return journal;
  }

  /** Asks for a snapshot of all that was answered before. */
  void snapshot(SnapshotCycle.Listener listener) {
    final SnapshotCycle cycle = snapshots;
    if (cycle == null) { // the journal was created this moment
      listener.onFailure(new IOException("the server starts; try again"));
      return;
    }
    cycle.ask(listener);
    wakeSnapshots();
  }

  /** Why the last snapshot was not taken, or null. */
  @Nullable IOException snapshotObstacle() {
    final SnapshotCycle cycle = snapshots;
    return cycle == null ? null : cycle.obstacle();
  }

  /** The state of the catalog, of these indexes. No index may be created or dropped meanwhile. */
  CatalogState catalog(Collection<ServedIndex> indexes) {
    return new CatalogState(
        journal.catalogLsn(),
        newest,
        indexes.stream()
            .filter(index -> index.entry().number() != 0)
            .sorted(Comparator.comparingLong(index -> index.entry().number()))
            .toList());
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

  /** Opens a sequence of records that keep their bytes; as {@link Journal#copies}. */
  CopiedLog copies(Runnable listener) {
    return journal.copies(listener);
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
  @Nullable CompletableFuture<Void> create(CatalogEntry entry) {
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

  private JournalMetrics.Levels levels() {
    return new JournalMetrics.Levels(
        () -> journal.counts().waitingNs(System.nanoTime()) / 1e9,
        () -> snapshotAgeMillis() < 0 ? Double.NaN : snapshotAgeMillis() / 1e3,
        this::unsnapshottedBytes,
        () -> journal.isFailed() ? 1 : 0);
  }

  /** The number of the newest snapshot; 0: there is none. */
  private long newestSnapshot() {
    final SnapshotCycle cycle = snapshots;
    if (cycle == null) {
      return journal.recoveredSnapshot();
    }
    final SnapshotCycle.Taken newestTaken = cycle.newest();
    return newestTaken == null ? 0 : newestTaken.number();
  }

  private long snapshotAgeMillis() {
    final long number = newestSnapshot();
    if (number == 0) {
      return -1;
    }
    try {
      final Path file = data.path().resolve(SnapshotDescriptor.name(number));
      return Math.max(0, System.currentTimeMillis() - Files.getLastModifiedTime(file).toMillis());
    } catch (IOException e) {
      return -1; // a newer one has just taken its place
    }
  }

  private long unsnapshottedBytes() {
    final SnapshotCycle cycle = snapshots;
    final SnapshotCycle.Taken newestTaken = cycle == null ? null : cycle.newest();
    return journal.durable() - (newestTaken == null ? 0 : newestTaken.begin());
  }

  /** The state for operators. */
  JournalDescription describe() {
    final JournalCounts counts = journal.counts();
    final IOException noSnapshot = snapshotObstacle();
    return JournalDescription.newBuilder()
        .setSyncs(counts.syncs())
        .setSyncNs(counts.syncNs())
        .setLongestSyncNs(counts.longestSyncNs())
        .setRecords(counts.records())
        .setBytes(counts.bytes())
        .setWaitingNs(counts.waitingNs(System.nanoTime()))
        .setUnsnapshottedBytes(unsnapshottedBytes())
        .setSnapshot(newestSnapshot())
        .setSnapshotAgeMs(Math.max(0, snapshotAgeMillis()))
        .setSnapshotObstacle(noSnapshot == null ? "" : String.valueOf(noSnapshot.getMessage()))
        .setRecoveryNs(recovery.durationNs())
        .setRecoveredRecords(recovery.records())
        .build();
  }

  /** The reader of what was written, of the thread on which watches read it. */
  JournalReader reader() {
    return reader;
  }

  /** Why nothing is written any more, or null. */
  @Nullable IOException failure() {
    return journal.failure();
  }

  /** Why the journal cannot grow now, or null. */
  @Nullable IOException obstacle() {
    return journal.obstacle();
  }

  /** Writes what is left. No write may be under way. */
  @Override
  public void close() {
    if (snapshotThread != null) {
      snapshotThread.close(); // first: it asks the journal
    }
    try {
      thread.close();
    } catch (IOException e) {
      LOGGER.log(Level.ERROR, "the journal did not end in order", e);
    }
  }
}
