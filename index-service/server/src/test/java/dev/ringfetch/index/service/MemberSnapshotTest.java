package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.replay.ReplayLanes;
import dev.ringfetch.index.snapshot.PiecewiseSnapshot;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a snapshot has of a member's index that goes on to apply records. */
final class MemberSnapshotTest {
  private static final long GROUP = 7;
  private static final long CLIENT = 99;
  private static final ByteString VALUE = ByteString.copyFromUtf8("x".repeat(1000));

  private final Indexes indexes = Indexes.unrecovered(IndexMemory.ofProcess(64L << 20));
  private final ReplicatedIndex member =
      new ReplicatedIndex(indexes, told -> {}, grant -> {}, null, false);
  private final ReplicatedIndex other =
      new ReplicatedIndex(indexes, told -> {}, grant -> {}, null, false);
  private GroupState state;
  private final List<JournalRecord> applied = new ArrayList<>();
  private final Map<Long, long[]> next = new HashMap<>(); // open, first incomplete, number
  private long lsn;
  private long client = CLIENT; // of the next record with a number

  @AfterEach
  void close() {
    member.follow();
    other.follow();
    indexes.close();
  }

  private void begin(IndexKind kind) throws Exception {
    state =
        GroupState.newBuilder()
            .setGroup(GROUP)
            .setIndex("index")
            .setDefinition(new IndexDefinition(kind, Durability.DISK, 1, 5, 77).encoded())
            .build();
    member.clear(state);
    other.clear(state);
  }

  private void apply(int type, String key, ByteString value, long deadline, long request)
      throws Exception {
    final ByteString name = ByteString.copyFromUtf8(key);
    final byte[] bytes = new byte[JournalRecord.aligned(name, value, deadline)];
    final JournalRecord record = new JournalRecord();
    record
        .begin(bytes, 0, type, name, value)
        .deadline(deadline)
        .partition(type == RecordDescriptor.OPEN_CLIENT ? 0 : GROUP, 0)
        .request(request == 0 ? 0 : client, request)
        .place(5, ++lsn)
        .end();
    member.apply(record);
    applied.add(record.copy());
  }

  private void put(String key) throws Exception {
    apply(RecordDescriptor.PUT, key, VALUE, 0, 0);
  }

  /** The records of pieces, by type, partition, LSN, client and key. */
  private static List<String> text(List<ByteString> pieces) {
    final List<String> text = new ArrayList<>();
    final JournalRecord record = new JournalRecord();
    for (final ByteString piece : pieces) {
      final byte[] bytes = piece.toByteArray();
      for (int offset = 0; offset < bytes.length; ) {
        assertTrue(record.wrap(bytes, offset, bytes.length));
        text.add(
            record.type()
                + " lsn="
                + record.lsn()
                + " client="
                + record.client()
                + "/"
                + record.request()
                + " key="
                + record.key().toStringUtf8()
                + " deadline="
                + record.deadline()
                + " value="
                + record.value().hashCode());
        offset += RecordDescriptor.aligned(record.length());
      }
    }
    return text;
  }

  private void restore(List<ByteString> pieces) throws Exception {
    final JournalRecord record = new JournalRecord();
    for (final ByteString piece : pieces) {
      final byte[] bytes = piece.toByteArray();
      for (int offset = 0; offset < bytes.length; ) {
        record.wrap(bytes, offset, bytes.length);
        other.restore(record);
        offset += RecordDescriptor.aligned(record.length());
      }
    }
  }

  private static List<ByteString> all(GroupSnapshot snapshot) {
    final List<ByteString> pieces = new ArrayList<>();
    for (ByteString piece = snapshot.next(); piece != null; piece = snapshot.next()) {
      assertFalse(snapshot.isFailed());
      pieces.add(piece);
    }
    return pieces;
  }

  @ParameterizedTest
  @EnumSource(names = {"HASH", "ORDERED"})
  void entriesOutcomesClientsAndTheClockAreThere(IndexKind kind) throws Exception {
    begin(kind);
    apply(RecordDescriptor.OPEN_CLIENT, "", ByteString.EMPTY, 0, 1);
    apply(RecordDescriptor.PUT, "numbered", VALUE, 0, 1);
    put("gone");
    apply(RecordDescriptor.DELETE, "gone", ByteString.EMPTY, 0, 0);
    apply(RecordDescriptor.TICK, "", RecordDescriptor.value(5_000), 0, 0);
    apply(RecordDescriptor.PUT, "ends", VALUE, 60_000, 0);
    for (int i = 0; i < 200; i++) {
      put("k" + i);
    }
    final List<ByteString> pieces = all(member.snapshot(() -> {}));
    assertTrue(pieces.size() > 2);
    restore(pieces);
    final List<String> text = text(pieces);
    assertEquals(new TreeSet<>(text), new TreeSet<>(text(all(other.snapshot(() -> {})))));
    assertEquals(205, text.size()); // partition, outcome, 202 entries, client
    assertTrue(text.get(0).startsWith("32 lsn=" + lsn), text.get(0));
    assertTrue(text.get(1).startsWith("3 lsn=2 client=99/1"), text.get(1));
    assertTrue(text.get(204).startsWith("19 lsn=0 client=99/1"), text.get(204));
    assertEquals(1, text.stream().filter(one -> one.contains("deadline=60000")).count());
  }

  @ParameterizedTest
  @EnumSource(names = {"HASH", "ORDERED"})
  void aRecoveryOnSeveralThreadsHasTheSame(IndexKind kind) throws Exception {
    begin(kind);
    try (ReplayLanes lanes = new ReplayLanes()) {
      final ReplicatedIndex recovered =
          new ReplicatedIndex(indexes, told -> {}, grant -> {}, lanes, false);
      recovered.clear(state);
      for (int i = 0; i < 3_000; i++) {
        put("k" + i % 500);
        recovered.apply(applied.get(applied.size() - 1));
      }
      recovered.clear(state); // as the node began anew; some of those records are under way
      for (int i = 0; i < 3_000; i++) {
        if (i % 7 == 0) {
          apply(RecordDescriptor.DELETE, "k" + i % 500, ByteString.EMPTY, 0, 0);
        } else {
          put("k" + i % 500);
        }
      }
      for (final JournalRecord record : applied) {
        recovered.apply(record);
      }
      recovered.recovered();
      put("last"); // at once
      recovered.apply(applied.get(applied.size() - 1));
      assertEquals(
          new TreeSet<>(text(all(member.snapshot(() -> {})))),
          new TreeSet<>(text(all(recovered.snapshot(() -> {})))));
      recovered.follow();
    }
  }

  /** Records that are on their way belong to memory that another group may get. */
  @Test
  void aGroupThatIsGivenUpInARecoveryTakesNoMoreMemory() throws Exception {
    begin(IndexKind.HASH);
    final StoreMemory memory = indexes.memory().store();
    final long before = memory.usedBytes();
    try (ReplayLanes lanes = new ReplayLanes()) {
      final ReplicatedIndex dropped =
          new ReplicatedIndex(indexes, told -> {}, grant -> {}, lanes, false);
      final ReplicatedIndex next =
          new ReplicatedIndex(indexes, told -> {}, grant -> {}, lanes, false);
      dropped.clear(state);
      for (int i = 0; i < 500; i++) {
        put("k" + i);
        dropped.apply(applied.get(i));
      }
      member.follow();
      dropped.follow();
      next.clear(state);
      next.recovered();
      next.follow();
    }
    assertTrue(memory.usedBytes() <= before, "used=" + memory.usedBytes() + " before=" + before);
  }

  /** Other groups share the lanes, and go on. */
  @Test
  void aGroupWithoutMemoryFailsAloneInARecovery() throws Exception {
    begin(IndexKind.HASH);
    try (ReplayLanes lanes = new ReplayLanes()) {
      final ReplicatedIndex large =
          new ReplicatedIndex(indexes, told -> {}, grant -> {}, lanes, false);
      final ReplicatedIndex small =
          new ReplicatedIndex(indexes, told -> {}, grant -> {}, lanes, false);
      large.clear(state);
      small.clear(state);
      put("small");
      small.apply(applied.get(0));
      other.apply(applied.get(0));
      final GroupStoreException failure =
          assertThrows(GroupStoreException.class, () -> fill(large));
      assertTrue(failure.getMessage().contains("memory"), failure::getMessage);
      large.follow();
      small.recovered();
      assertEquals(text(all(other.snapshot(() -> {}))), text(all(small.snapshot(() -> {}))));
      small.follow();
    }
  }

  private void fill(ReplicatedIndex index) throws GroupStoreException {
    final byte[] bytes = new byte[JournalRecord.aligned(VALUE, VALUE, 0)];
    final JournalRecord record = new JournalRecord();
    for (int i = 1; i < 100_000; i++) {
      record
          .begin(bytes, 0, RecordDescriptor.PUT, ByteString.copyFromUtf8("key" + i), VALUE)
          .partition(GROUP, 0)
          .place(5, i)
          .end();
      index.apply(record);
    }
    index.recovered();
  }

  @ParameterizedTest
  @EnumSource(names = {"HASH", "ORDERED"})
  void aKeyThatIsThereThroughoutIsThereWhateverIsApplied(IndexKind kind) throws Exception {
    begin(kind);
    for (int i = 0; i < 200; i++) {
      put("k" + i);
    }
    final GroupSnapshot snapshot = member.snapshot(() -> {});
    final List<ByteString> pieces = new ArrayList<>();
    for (ByteString piece = snapshot.next(); piece != null; piece = snapshot.next()) {
      pieces.add(piece);
      for (int i = 0; i < 100; i++) { // the store grows, and keys move
        put("new" + lsn);
      }
    }
    final String text = String.join("\n", text(pieces));
    for (int i = 0; i < 200; i++) {
      assertTrue(text.contains("key=k" + i + " "), "i=" + i);
    }
    assertTrue(text.startsWith("32 lsn=200 "), text.substring(0, 20));
  }

  /**
   * Writes with numbers go on, and clients come and go, while pieces are taken. Records that follow
   * the begin of the snapshot are applied behind it, as a node does that joins.
   */
  @ParameterizedTest
  @EnumSource(names = {"HASH", "ORDERED"})
  void aNodeThatJoinsHasTheSameOutcomesWhateverIsApplied(IndexKind kind) throws Exception {
    final Random random = new Random(Long.getLong("ringfetch.seed", 7));
    begin(kind);
    for (int i = 0; i < 8_000; i++) {
      write(random, 300);
    }
    final GroupSnapshot snapshot = member.snapshot(() -> {});
    final int begun = applied.size();
    final List<ByteString> pieces = new ArrayList<>();
    for (ByteString piece = snapshot.next(); piece != null; piece = snapshot.next()) {
      assertTrue(piece.size() <= PiecewiseSnapshot.PIECE_LENGTH, "length=" + piece.size());
      pieces.add(piece);
      for (int i = 0; i < 300; i++) {
        write(random, 310);
      }
    }
    assertTrue(pieces.size() > 5, "pieces=" + pieces.size());
    restore(pieces);
    for (final JournalRecord record : applied.subList(begun, applied.size())) {
      other.apply(record);
    }
    assertEquals(
        new TreeSet<>(text(all(member.snapshot(() -> {})))),
        new TreeSet<>(text(all(other.snapshot(() -> {})))));
  }

  /** A record of one of so many clients: it comes, writes, deletes of a range, ends. */
  private void write(Random random, int clients) throws Exception {
    client = 1L + random.nextInt(clients);
    final long[] numbers = next.computeIfAbsent(client, unknown -> new long[] {0, 1, 1});
    if (numbers[0] == 0) {
      numbers[0] = 1;
      apply(RecordDescriptor.OPEN_CLIENT, "", ByteString.EMPTY, 0, 1);
      return;
    }
    final ByteString value = ByteString.copyFromUtf8("v" + lsn);
    switch (random.nextInt(200)) {
      case 0 -> {
        next.remove(client);
        apply(RecordDescriptor.CLOSE_CLIENT, "", ByteString.EMPTY, 0, 0);
      }
      case 1 -> numbers[1] = numbers[2]; // it has all answers
      default -> {
        final boolean isRange = random.nextInt(3) == 0; // one number for several deletes
        final long number = isRange && numbers[2] > numbers[1] ? numbers[2] - 1 : numbers[2]++;
        apply(
            isRange ? RecordDescriptor.DELETE : RecordDescriptor.PUT,
            "k" + random.nextInt(50),
            isRange ? ByteString.EMPTY : value,
            0,
            (number - numbers[1]) << 48 | number);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"HASH", "ORDERED"})
  void anEntryThatIsLongerThanAPieceComesAlone(IndexKind kind) throws Exception {
    begin(kind);
    final ByteString large = ByteString.copyFrom(new byte[1 << 20]);
    for (int i = 0; i < 6; i++) {
      apply(RecordDescriptor.PUT, "k" + i, i % 2 == 0 ? large : VALUE, 0, 0);
    }
    for (final ByteString piece : all(member.snapshot(() -> {}))) {
      assertTrue(
          piece.size() <= PiecewiseSnapshot.PIECE_LENGTH || text(List.of(piece)).size() == 1,
          "length=" + piece.size());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"HASH", "ORDERED"})
  void aMemberThatBeginsToLeadEndsIt(IndexKind kind) throws Exception {
    begin(kind);
    for (int i = 0; i < 200; i++) {
      put("k" + i);
    }
    final GroupSnapshot snapshot = member.snapshot(() -> {});
    assertFalse(snapshot.next().isEmpty());
    member.lead(
        new GroupLog() {
          @Override
          public CommitLog partition(int partition, long last) {
            return new ImmediateLog(last);
          }

          @Override
          public boolean append(int type, long client, long request, Ended ended) {
            return true;
          }

          @Override
          public boolean isAlone() {
            return false;
          }
        },
        state);
    assertTrue(snapshot.next().isEmpty());
    assertTrue(snapshot.isFailed());
  }
}
