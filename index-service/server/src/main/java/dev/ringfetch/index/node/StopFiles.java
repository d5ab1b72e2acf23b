package dev.ringfetch.index.node;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.StopRecovery;
import dev.ringfetch.index.replication.StopRecords;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.UnreadFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/**
 * The records of orderly stops in a node's data directory: a file for each group, which has its
 * name once it is whole and synced.
 *
 * <p>Used by one thread at a time, but for removals, of which the same holds, and for what cannot
 * be read.
 */
public final class StopFiles implements StopRecords {
  private static final String PREFIX = "stop-";
  private static final String UNFINISHED_SUFFIX = ".unfinished";
  private static final int BUFFER_LENGTH = 4 << 20; // several times the longest record

  private static final int SYNC_LENGTH = 1 << 20;

  private final Disk disk;
  private final Map<Long, String> unread = new ConcurrentHashMap<>(); // why, by group
  private volatile @Nullable String unlisted; // why there may be others; null: there are none

  public StopFiles(Disk disk) {
    this.disk = disk;
  }

  /** Name of a group's file. */
  public static String name(long group) {
    return PREFIX + String.format("%016x", group);
  }

  /** Number of the group whose file it is; -1 if it is none. */
  private static long group(String name) {
    try {
      return name.startsWith(PREFIX)
          ? Long.parseUnsignedLong(name.substring(PREFIX.length()), 16)
          : -1;
    } catch (NumberFormatException e) { // of another kind, or unfinished
      return -1;
    }
  }

  @Override
  public Writer create(long group) throws IOException {
    final String unfinished = name(group) + UNFINISHED_SUFFIX;
    disk.delete(unfinished); // of a process that was killed
    final DiskFile file = disk.create(unfinished);
    return new Writer() {
      private long length;
      private int unsynced;
      private boolean isFinished;

      @Override
      public void add(byte[] piece) throws IOException {
        file.write(length, ByteBuffer.wrap(piece));
        length += piece.length;
        unsynced += piece.length;
        if (unsynced >= SYNC_LENGTH) { // so that the last sync, which all wait for, is short
          file.sync();
          unsynced = 0;
        }
      }

      @Override
      public void finish() throws IOException {
        file.sync();
        file.close();
        disk.rename(unfinished, name(group));
        disk.syncDirectory();
        unread.remove(group);
        isFinished = true;
      }

      @Override
      public void close() throws IOException {
        if (!isFinished) {
          file.close();
          disk.delete(unfinished);
        }
      }
    };
  }

  @Override
  public Set<Long> groups() throws IOException {
    return disk.list().stream()
        .map(StopFiles::group)
        .filter(group -> group > 0)
        .collect(Collectors.toSet());
  }

  @Override
  public void delete(Set<Long> groups) throws IOException {
    for (final long group : groups) {
      disk.delete(name(group));
    }
    disk.syncDirectory(); // a loss of power does not bring them back
    unread.keySet().removeAll(groups);
  }

  /**
   * The file of a group that there is, or may be, and that cannot be read; null: there is none. On
   * any thread.
   */
  @Nullable UnreadFile unread(GroupState state) {
    final IndexDefinition definition = IndexDefinition.of(state);
    final boolean mayHave =
        definition == null || definition.durability() == Durability.MEMORY; // others have none
    final String reason = unread.getOrDefault(state.getGroup(), mayHave ? unlisted : null);
    return reason == null
        ? null
        : UnreadFile.newBuilder().setName(name(state.getGroup())).setReason(reason).build();
  }

  /**
   * Reads all that there are, and removes what a process that was killed has not finished.
   *
   * @param node whose directory it is
   * @param found takes those that are whole
   * @param errors is told of the others, with which no group goes on
   */
  public void read(
      long node, GroupStore.Factory stores, Consumer<GroupRecovery> found, ErrorHandler errors)
      throws IOException {
    for (final String name : list()) {
      if (name.startsWith(PREFIX) && name.endsWith(UNFINISHED_SUFFIX)) {
        remove(name, errors);
      }
    }
    readAll(node, stores, found, errors);
  }

  /** Reads all that there are, and changes nothing; else as {@link #read}. */
  public void readAll(
      long node, GroupStore.Factory stores, Consumer<GroupRecovery> found, ErrorHandler errors)
      throws IOException {
    for (final String name : list()) {
      if (group(name) > 0) {
        take(name, new StopRecovery(group(name), node, stores), found, errors);
      }
    }
  }

  private List<String> list() throws IOException {
    try {
      return disk.list();
    } catch (IOException e) {
      unlisted = String.valueOf(e.getMessage());
      throw e;
    }
  }

  /** Removes a file that counts for nothing: where that fails, the others are read all the same. */
  private void remove(String name, ErrorHandler errors) {
    try {
      disk.delete(name);
    } catch (IOException e) {
      errors.onError(e);
    }
  }

  /** Takes one file; what it throws leaves that one out, and no other. */
  private void take(
      String name, StopRecovery recovery, Consumer<GroupRecovery> found, ErrorHandler errors) {
    try {
      read(name, recovery);
      final GroupRecovery whole = recovery.whole();
      if (whole == null) {
        throw new IOException("it has no end");
      }
      found.accept(whole);
    } catch (IOException | GroupStoreException | RuntimeException e) {
      recovery.discard();
      unread.put(group(name), disk.describe(name) + ": " + e.getMessage());
      errors.onError(
          new IOException("the index is not taken over: file=" + disk.describe(name), e));
    }
  }

  private void read(String name, StopRecovery recovery) throws IOException, GroupStoreException {
    final byte[] bytes = new byte[BUFFER_LENGTH];
    final JournalRecord record = new JournalRecord();
    try (DiskFile file = disk.open(name)) {
      final long end = file.length();
      long position = 0;
      while (position < end) {
        final int limit = file.read(position, ByteBuffer.wrap(bytes));
        int offset = 0;
        while (record.wrap(bytes, offset, limit)) {
          recovery.onRecord(record);
          offset += RecordDescriptor.aligned(record.length());
        }
        if (offset == 0) {
          throw new IOException("damaged: offset=" + position);
        }
        position += offset;
      }
    }
  }
}
