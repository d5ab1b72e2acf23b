package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.CoordinatorFile;
import dev.ringfetch.index.data.OfflineDirectory;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalInspection;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.EntryWalk;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The indexes of a data directory that no server uses, as a server would find them at a start; of a
 * cluster's node, with all records that it has, whether they were committed or not. The directory
 * is read, with what orderly stops have left, checked and not changed; until this is closed, no
 * server can use it.
 *
 * <p>Used by one thread at a time.
 */
public final class OfflineIndexes implements AutoCloseable {
  private final OfflineDirectory directory;
  private final IndexMemory memory;
  private final OfflineRecords records;
  private final @Nullable JournalInspection inspection; // null: there is no journal
  private final long movesTo; // a cluster; 0: none

  /**
   * An index that was found.
   *
   * @param name of the index
   * @param kind of the index
   * @param durability of its writes
   * @param entries number of entries
   */
  public record Found(String name, IndexKind kind, Durability durability, long entries) {}

  /** Receives entries. */
  @FunctionalInterface
  public interface EntrySink {
    /** Takes one; false ends the walk. */
    boolean take(Entry entry) throws IOException;
  }

  OfflineIndexes(OfflineDirectory directory, IndexMemory memory) throws IOException {
    this.directory = directory;
    this.memory = memory;
    final HostDisk disk = HostDisk.readOnly(directory.path());
    final boolean isAlone = directory.isAlone();
    records = new OfflineRecords(memory, !isAlone);
    inspection =
        Journal.isIn(disk) ? JournalInspection.of(disk, directory.origin(), records) : null;
    if (isAlone && !directory.isCopy()) { // the parts of a copy are of several times
      CoordinatorFile.check(directory.path(), records.found());
    }
    movesTo = CoordinatorFile.movesTo(directory.path());
  }

  /**
   * Reads a directory as a whole.
   *
   * @param budget bytes of memory for its indexes
   * @throws IOException if a server uses it, no server would start on it, which the message says
   *     why, or the memory is too small
   */
  public static OfflineIndexes open(Path path, long budget) throws IOException {
    final OfflineDirectory directory = OfflineDirectory.open(path);
    final IndexMemory memory = IndexMemory.ofProcess(budget);
    boolean opened = false;
    try {
      if (!directory.hasIdentity()) {
        throw new IOException(directory.faults().get(0));
      }
      final OfflineIndexes indexes = new OfflineIndexes(directory, memory);
      opened = true;
      return indexes;
    } finally {
      if (!opened) {
        memory.close();
        directory.close();
      }
    }
  }

  /** The indexes as {@link #found} describes them. */
  Collection<RecoveredIndex> indexes() {
    return records.indexes();
  }

  /** Whether all that is there was read, and nothing left out. */
  boolean isWhole() {
    return records.isWhole();
  }

  /** Whether certainly no batch is missing after the last whole one. */
  boolean isEndKnown() {
    return inspection == null || inspection.isEndKnown();
  }

  /** The indexes, in the order in which they were created; those in memory last. */
  public List<Found> found() {
    return records.indexes().stream()
        .map(
            index ->
                new Found(
                    index.entry().name(),
                    index.entry().definition().kind(),
                    index.entry().definition().durability(),
                    index.index().count()))
        .toList();
  }

  /** Lines about the indexes, for messages; empty for a single server's. */
  public List<String> notes() {
    final List<String> notes = new ArrayList<>(records.notes());
    if (movesTo != 0) {
      notes.add(
          String.format(
              "moves to cluster=%016x: start it with the --cluster of that, and --adopt", movesTo));
    }
    return notes;
  }

  /** Incarnation of the server that owned the directory last. */
  public long incarnation() {
    return directory.incarnation();
  }

  /** 128 random bits that name the directory for its life, in hexadecimal. */
  public String id() {
    return directory.id();
  }

  /** Number of segments of the journal; 0: it has none. */
  public int segments() {
    return inspection == null ? 0 : inspection.segments();
  }

  /** Number of records that a start reads, those of a snapshot included. */
  public long records() {
    return inspection == null ? 0 : inspection.records();
  }

  /** Number of the snapshot that a start takes; 0: none. */
  public long snapshot() {
    return inspection == null ? 0 : inspection.snapshot();
  }

  /** Whether the last server ended in order. */
  public boolean isClean() {
    return inspection == null || inspection.clean();
  }

  /** Bytes that a crash has left unfinished, which no answer told of and a start cuts off. */
  public long unfinishedBytes() {
    return inspection == null ? 0 : inspection.unfinishedBytes();
  }

  /** Lines about damage that does not prevent a start. */
  public List<String> faults() {
    final List<String> faults = new ArrayList<>(directory.faults());
    if (inspection != null) {
      faults.addAll(inspection.faults());
    }
    faults.addAll(records.faults());
    return faults;
  }

  /**
   * Passes all entries of an index to a sink, but those whose deadlines had come when the server
   * ended: of an ORDERED one in the order of their keys, else in none.
   *
   * @return false if there is no such index
   */
  public boolean walk(String name, EntrySink sink) throws IOException {
    for (final RecoveredIndex index : records.indexes()) {
      if (index.entry().name().equals(name)) {
        walk(index, sink);
        return true;
      }
    }
    return false;
  }

  static void walk(RecoveredIndex index, EntrySink sink) throws IOException {
    for (int i = 0; i < index.index().partitions(); i++) {
      final EntryStore store = index.index().partition(i);
      final EntryWalk walk = new EntryWalk();
      while (!walk.isDone()) {
        store.step(walk);
        for (final Entry entry : walk.entries()) {
          final boolean isThere =
              entry.getDeadlineMs() == 0 || entry.getDeadlineMs() > store.expiry().clock();
          if (isThere && !sink.take(entry)) {
            return;
          }
        }
        walk.clear();
      }
    }
  }

  @Override
  public void close() throws IOException {
    memory.close();
    directory.close();
  }
}
