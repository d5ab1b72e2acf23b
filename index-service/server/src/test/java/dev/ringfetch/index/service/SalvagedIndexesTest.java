package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Salvage of indexes by records of which some are missing, behind a snapshot that is whole. */
class SalvagedIndexesTest {
  private static final IndexDefinition DEFINITION =
      new IndexDefinition(IndexKind.ORDERED, Durability.DISK, 1, 2, 3);

  private final SalvagedIndexes found = new SalvagedIndexes();

  private static JournalRecord record(
      int type, long index, long lsn, ByteString key, ByteString value) {
    final byte[] bytes = new byte[JournalRecord.aligned(key, value, 0)];
    new JournalRecord().begin(bytes, 0, type, key, value).partition(index, 0).place(1, lsn).end();
    return new JournalRecord().at(bytes, 0);
  }

  private static JournalRecord record(int type, long index, long lsn, String key) {
    return record(type, index, lsn, ByteString.copyFromUtf8(key), ByteString.EMPTY);
  }

  private void journal(int type, long index, long lsn, String key) {
    found.onRecord(record(type, index, lsn, key), () -> "");
  }

  private static ByteString begin() {
    return GroupState.newBuilder()
        .setIndex("one")
        .setDefinition(DEFINITION.encoded())
        .build()
        .toByteString();
  }

  private Set<String> keys(long index) {
    return found.contents().stream()
        .filter(content -> content.number() == index)
        .flatMap(content -> content.entries().entrySet().stream())
        .filter(entry -> entry.getValue().value() != null)
        .map(entry -> entry.getKey().toStringUtf8())
        .collect(Collectors.toSet());
  }

  /** The snapshot has index 1 up to LSN 10. */
  @BeforeEach
  void snapshot() {
    final ByteString none = ByteString.EMPTY;
    found.onSnapshotRecord(record(RecordDescriptor.GROUP_BEGIN, 1, 0, none, begin()), () -> "");
    found.onSnapshotRecord(
        record(RecordDescriptor.PARTITION, 1, 10, none, RecordDescriptor.value(77)), () -> "");
    found.onSnapshotRecord(record(RecordDescriptor.PUT, 1, 4, "old"), () -> "");
    found.onSnapshotRecord(record(RecordDescriptor.PUT, 1, 12, "later"), () -> "");
    assertEquals(77, found.clock());
  }

  @Test
  void whatWasRemovedStaysSo() {
    journal(RecordDescriptor.PUT, 1, 9, "removed at 10");
    journal(RecordDescriptor.PUT, 2, 500, "of an index that is dropped");
    journal(RecordDescriptor.GROUP_END, 2, 0, "");
    journal(RecordDescriptor.PUT, 2, 501, "as it was being dropped");
    assertEquals(Set.of("old", "later"), keys(1));
    assertEquals(1, found.contents().size());
    assertEquals(List.of(), found.missing());
  }

  @Test
  void theNewestRecordOfAKeyCounts() {
    journal(RecordDescriptor.DELETE, 1, 11, "later"); // the snapshot has it as of 12
    journal(RecordDescriptor.PUT, 1, 12, "later");
    journal(RecordDescriptor.DELETE, 1, 13, "old");
    found.onPartialRecord(record(RecordDescriptor.PUT, 1, 4, "old"), () -> "");
    found.onPartialRecord(record(RecordDescriptor.PUT, 1, 14, "new"), () -> "");
    assertEquals(Set.of("later", "new"), keys(1));
    assertEquals(List.of(), found.missing(), "a snapshot has no record of each LSN");
  }

  @Test
  void theChangesOfATransactionCount() {
    final JournalRecord put = record(RecordDescriptor.PUT, 1, 11, "new");
    final JournalRecord delete = record(RecordDescriptor.DELETE, 1, 11, "old");
    final byte[] parts =
        new byte
            [RecordDescriptor.aligned(put.length()) + RecordDescriptor.aligned(delete.length())];
    put.copyTo(parts, 0);
    delete.copyTo(parts, RecordDescriptor.aligned(put.length()));
    final ByteString value = ByteString.copyFrom(parts);
    found.onRecord(record(RecordDescriptor.TRANSACTION, 1, 11, ByteString.EMPTY, value), () -> "");
    assertEquals(Set.of("new", "later"), keys(1));
    journal(RecordDescriptor.PUT, 1, 12, "a");
    assertEquals(List.of(), found.missing());
    found.onRecord( // its checksum was right by chance
        record(RecordDescriptor.TRANSACTION, 1, 13, ByteString.EMPTY, value), () -> "");
    assertEquals(Set.of("new", "later", "a"), keys(1));
  }

  @Test
  void missingLsnsAreMissingRecords() {
    journal(RecordDescriptor.DELETE, 1, 11, "a");
    journal(RecordDescriptor.PUT, 1, 14, "a");
    journal(RecordDescriptor.PUT, 1, 15 + Journal.LOST_LIMIT, "b"); // a start has skipped
    journal(RecordDescriptor.PUT, 3, 2, "c"); // of an index that came later
    assertEquals(2, found.missing().size());
    assertEquals(
        "missing records=2 index=one first: partition=0 behind=11 before=14",
        found.missing().get(0));
    assertTrue(found.missing().get(1).startsWith("missing records=1 index=3 "));
  }

  /** A journal goes back to the begin of a group of which the snapshot has more. */
  @Test
  void anEarlierBeginRemovesNothing() {
    found.onRecord(record(RecordDescriptor.GROUP_BEGIN, 1, 0, ByteString.EMPTY, begin()), () -> "");
    assertEquals(Set.of("old", "later"), keys(1));
    final JournalRecord anew =
        record(RecordDescriptor.GROUP_BEGIN, 1, 0, ByteString.EMPTY, begin());
    anew.place(2, 0).end(); // the node began anew in epoch 2
    found.onRecord(anew, () -> "");
    assertEquals(Set.of(), keys(1));
    assertEquals("one", found.contents().iterator().next().entry().name());
  }

  @Test
  void versionsBehindAnAcceptedLossAreNoneThatAreMissing() {
    journal(RecordDescriptor.PUT, 1, 11, "a");
    journal(RecordDescriptor.PUT, 1, (1L << 40) + 1, "b");
    assertEquals(List.of(), found.missing());
    journal(RecordDescriptor.PUT, 1, (1L << 40) + 3, "c");
    assertTrue(found.missing().get(0).startsWith("missing records=1 "), found.missing()::toString);
  }
}
