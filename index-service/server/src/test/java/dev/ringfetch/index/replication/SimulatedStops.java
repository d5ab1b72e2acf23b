package dev.ringfetch.index.replication;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.StopRecords;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Member;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/** What processes of a simulated node have left as they ended in order. */
final class SimulatedStops implements StopRecords {
  private final Coverage coverage;
  private final Map<Long, List<byte[]>> records = new TreeMap<>();
  private final Set<Long> damaged = new TreeSet<>(); // groups whose record cannot be read
  private final Set<Long> own = new TreeSet<>(); // groups whose record the process has written

  /** Removals fail so many times. */
  int failures;

  /** The disk is full after so many pieces more, until it has been once; negative: never. */
  int room = -1;

  /** Each process finds damaged records of these groups, and the disk is slow to remove them. */
  Set<Long> damages = Set.of();

  SimulatedStops(Coverage coverage) {
    this.coverage = coverage;
  }

  private void write() throws IOException {
    if (room >= 0 && room-- == 0) {
      coverage.count("records without room");
      throw new IOException("no space left");
    }
  }

  @Override
  public Writer create(long group) throws IOException {
    write();
    final List<byte[]> pieces = new ArrayList<>();
    return new Writer() {
      @Override
      public void add(byte[] piece) throws IOException {
        write();
        pieces.add(piece.clone());
      }

      @Override
      public void finish() throws IOException {
        write();
        records.put(group, pieces);
        damaged.remove(group);
        own.add(group);
        coverage.count("records of stops");
      }

      @Override
      public void close() {
        // What is not finished is not there.
      }
    };
  }

  @Override
  public Set<Long> groups() {
    final Set<Long> groups = new TreeSet<>(records.keySet());
    groups.addAll(damaged);
    return groups;
  }

  @Override
  public void delete(Set<Long> groups) throws IOException {
    if (failures > 0) {
      failures--;
      throw new IOException("the disk does not answer");
    }
    for (final long group : groups) {
      if (own.contains(group)) {
        throw new AssertionError("a record of the process itself goes: group=" + group);
      }
      if (damaged.remove(group)) {
        coverage.count("removed records with damage");
      }
      if (records.remove(group) != null) {
        coverage.count("removed records of stops");
      }
    }
  }

  /** A process begins: what is there is of earlier ones. */
  void start() {
    own.clear();
    damages.stream().filter(group -> !records.containsKey(group)).forEach(damaged::add);
  }

  boolean has(long group) {
    return records.containsKey(group);
  }

  /** The processes whose records there are; empty if there are none. */
  List<Member> processes(long group) {
    final List<Member> processes = new ArrayList<>();
    for (final byte[] piece : records.getOrDefault(group, List.of())) {
      final JournalRecord record = new JournalRecord();
      for (int offset = 0; offset < piece.length; ) {
        record.at(piece, offset);
        if (record.type() == RecordDescriptor.GROUP_STOP) {
          processes.addAll(processes(record));
        }
        offset += RecordDescriptor.aligned(record.length());
      }
    }
    return processes;
  }

  private static List<Member> processes(JournalRecord record) {
    try {
      return Configuration.parseFrom(record.value()).getMembersList();
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
  }

  /** Makes a record say that its process obeyed a later epoch. */
  void obeyed(long group, long epoch) {
    for (final byte[] piece : records.get(group)) {
      final JournalRecord record = new JournalRecord();
      for (int offset = 0; offset < piece.length; ) {
        record.at(piece, offset);
        if (record.type() == RecordDescriptor.GROUP_EPOCH) {
          record.place(epoch, 0).end();
        }
        offset += RecordDescriptor.aligned(record.length());
      }
    }
  }

  /** Reads all that is there. */
  void recover(GroupStore.Factory stores, int waiting, Consumer<GroupRecovery> found) {
    for (final Map.Entry<Long, List<byte[]>> one : records.entrySet()) {
      final GroupRecovery recovery = new GroupRecovery(one.getKey(), stores, waiting);
      final JournalRecord record = new JournalRecord();
      try {
        for (final byte[] piece : one.getValue()) {
          int offset = 0;
          while (offset < piece.length && record.wrap(piece, offset, piece.length)) {
            recovery.onSnapshotRecord(record);
            offset += RecordDescriptor.aligned(record.length());
          }
        }
      } catch (GroupStoreException e) {
        throw new AssertionError(e);
      }
      if (!recovery.isPresent() || recovery.processes().isEmpty()) {
        throw new AssertionError("not whole: group=" + one.getKey());
      }
      coverage.count("starts from records of stops");
      found.accept(recovery);
    }
  }
}
