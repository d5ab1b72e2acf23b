package dev.ringfetch.index.service;

import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.journal.DiskQuota;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalContext;
import dev.ringfetch.index.journal.JournalCounts;
import dev.ringfetch.index.journal.JournalReader;
import dev.ringfetch.index.journal.JournalThread;
import dev.ringfetch.index.journal.RecoveryProgress;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.journal.SnapshotDescriptor;
import dev.ringfetch.index.journal.SnapshotSource;
import dev.ringfetch.index.journal.SnapshotThread;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.v1.JournalDescription;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The journal of a server's indexes, in its data directory, with the threads that drive it and take
 * snapshots.
 *
 * <p>Safe for use by many threads.
 */
final class IndexJournal implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(IndexJournal.class.getName());

  private final Journal journal;
  private final DataDirectory data;
  private final JournalMetrics.Recovered recovery;
  private final JournalThread thread;
  private final JournalReader reader;
  private final long snapshotAfter;
  private volatile @Nullable SnapshotThread snapshotThread; // null until the indexes are there
  private volatile SnapshotCycle snapshots;

  private IndexJournal(
      Journal journal, DataDirectory data, JournalMetrics.Recovered recovery, long snapshotAfter) {
    this.journal = journal;
    this.data = data;
    this.recovery = recovery;
    this.snapshotAfter = snapshotAfter;
    reader = journal.reader(new HostDisk(data.path()));
    thread = new JournalThread(journal);
  }

  /**
   * Opens the journal of a data directory, or creates it.
   *
   * @param groups takes its records
   * @param check is run before anything is written
   * @param options of the journal
   * @throws IOException if the disk fails, the journal is damaged, or by the check: the next open
   *     finds the same
   */
  static IndexJournal open(DataDirectory data, NodeRecovery groups, Check check, Options options)
      throws IOException {
    final long beginNs = System.nanoTime();
    final DiskNotice notice = new DiskNotice(LOGGER, System::nanoTime, data.toString());
    final Journal journal =
        Journal.open(
            new HostDisk(data.path()),
            new JournalContext()
                .quota(
                    new DiskQuota(
                        new HostDisk(data.path())::bytes,
                        options.quota(),
                        System::nanoTime,
                        notice::quota))
                .owner(data.origin(), data.incarnation())
                .ownerCheck(data::checkOwned)
                .interval(options.interval().toNanos())
                .progress(options.progress())
                .syncs(options.metrics()::onSync, System::nanoTime)
                .obstacles(notice)
                .errors(
                    failure -> {
                      LOGGER.log(Level.ERROR, "nothing is written any more: " + data, failure);
                      options.onFailure().run();
                    }),
            groups);
    for (final String name : journal.damagedSnapshots()) {
      LOGGER.log(
          Level.WARNING, "a damaged snapshot was passed over: file=" + name + " data=" + data);
    }
    final long recoveryNs = System.nanoTime() - beginNs;
    if (groups.records() > 0) {
      LOGGER.log(
          Level.INFO,
          "recovered "
              + groups.records()
              + " records in "
              + recoveryNs / 1_000_000
              + " ms: data="
              + data);
    }
    boolean opened = false;
    try {
      check.check(journal.isCopied());
      final JournalMetrics.Recovered recovery =
          new JournalMetrics.Recovered(recoveryNs, groups.records());
      final IndexJournal started =
          new IndexJournal(journal, data, recovery, options.snapshotAfter());
      options.metrics().onOpen(recovery, started.levels());
      opened = true;
      return started;
    } finally {
      if (!opened) {
        journal.abandon();
      }
    }
  }

  /** Decides whether a node goes on with what its journal has. */
  @FunctionalInterface
  interface Check {
    /**
     * Checks, and prepares for it.
     *
     * @param isCopied whether the directory is a copy on which no server has started
     * @throws IOException if the node must not go on, with the reason as its message
     */
    void check(boolean isCopied) throws IOException;
  }

  /**
   * Options of a journal.
   *
   * @param interval see {@link IndexMemoryContext#syncInterval}
   * @param snapshotAfter see {@link IndexMemoryContext#snapshotAfter}
   * @param quota see {@link IndexMemoryContext#diskQuota}; 0: none
   * @param progress is told how far the recovery has come
   * @param metrics see {@link IndexMemoryContext#journalMetrics}
   * @param onFailure see {@link IndexMemoryContext#onWritingEnded}
   */
  record Options(
      Duration interval,
      long snapshotAfter,
      long quota,
      RecoveryProgress progress,
      JournalMetrics metrics,
      Runnable onFailure) {}

  /**
   * Begins to take snapshots. Called once.
   *
   * @param source is made with what is to be run when there may be more to add
   */
  void startSnapshots(Function<Runnable, SnapshotSource> source) {
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

  /** Whether a directory has a journal, or a part of one. */
  static boolean isIn(DataDirectory data) throws IOException {
    return Journal.isIn(new HostDisk(data.path()));
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
        .setObstacleMs(TimeUnit.NANOSECONDS.toMillis(journal.obstacleNs()))
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
