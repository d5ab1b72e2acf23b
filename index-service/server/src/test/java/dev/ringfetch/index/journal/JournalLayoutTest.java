package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.v1.Appends;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ties the journal's constants to their diagrams, and the format to bytes that never change. */
class JournalLayoutTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/ringfetch/index/journal");

  /** Rows of 32 bits, two characters a bit; a row that ends with "..." is the last one. */
  private static Map<String, Integer> fields(String source) throws IOException {
    final Map<String, Integer> fields = new LinkedHashMap<>();
    final Matcher rows =
        Pattern.compile("^ \\*  \\|(.*)\\|$", Pattern.MULTILINE)
            .matcher(Files.readString(SOURCES.resolve(source + ".java")));
    for (int offset = 0; rows.find(); offset += Integer.BYTES) {
      int bits = 0;
      for (final String cell : rows.group(1).split("\\|", -1)) {
        if (!cell.isBlank()) {
          final String name = cell.strip().replaceFirst(":.*", "").replace(' ', '_');
          fields.put(name.toUpperCase(Locale.ROOT), offset + bits / Byte.SIZE);
        }
        bits += (cell.length() + 1) / 2;
      }
      assertEquals(Integer.SIZE, bits, source + " offset=" + offset);
    }
    return fields;
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        RecordDescriptor.class,
        BatchDescriptor.class,
        SegmentDescriptor.class,
        Checkpoint.class,
        OutcomeDescriptor.class
      })
  void fieldsAreWhereTheyAreDrawn(Class<?> layout) throws Exception {
    final Map<String, Integer> fields = fields(layout.getSimpleName());
    assertFalse(fields.isEmpty());
    for (final Map.Entry<String, Integer> field : fields.entrySet()) {
      final String constant = field.getKey().replace("CRC32C", "CRC") + "_OFFSET";
      assertEquals(field.getValue(), layout.getDeclaredField(constant).getInt(null), constant);
    }
  }

  /** The deadline ends the record, behind the value and in its length. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8})
  void aRecordMayHaveADeadline(int valueLength) {
    final byte[] bytes = new byte[160];
    Arrays.fill(bytes, (byte) 0x55);
    final ByteString key = ByteString.copyFromUtf8("key");
    final ByteString value = ByteString.copyFrom(new byte[valueLength]);
    new JournalRecord()
        .begin(bytes, 8, RecordDescriptor.PUT, key, value)
        .flags(RecordDescriptor.POSITIVE)
        .deadline(0x192_3456_789AL)
        .partition(1, 2)
        .place(3, 4)
        .end();
    final int length = RecordDescriptor.KEY_OFFSET + 3 + valueLength + Long.BYTES;
    final JournalRecord read = new JournalRecord();
    assertTrue(read.wrap(bytes, 8, bytes.length));
    assertEquals(length, read.length());
    assertEquals(RecordDescriptor.POSITIVE | RecordDescriptor.DEADLINE, read.flags());
    assertEquals(key, read.key());
    assertEquals(value, read.value());
    assertEquals(0x192_3456_789AL, read.deadline());
    for (int i = 8 + length; i < 8 + RecordDescriptor.aligned(length); i++) {
      assertEquals(0, bytes[i], "what fills it up: " + i);
    }
    assertEquals(0x55, bytes[8 + RecordDescriptor.aligned(length)]);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 0x192_3456_789AL})
  void aRecordMayHaveAFormerBox(long deadline) {
    final byte[] bytes = new byte[200];
    final ByteString value = ByteString.copyFromUtf8("value");
    final ByteString box = BoxDescriptor.bytes(1, 2, 3, 4);
    final int flags = RecordDescriptor.POSITIVE | RecordDescriptor.FORMER;
    new JournalRecord()
        .begin(bytes, 0, RecordDescriptor.PUT, ByteString.EMPTY, value.concat(box))
        .flags(flags)
        .deadline(deadline)
        .end();
    final JournalRecord read = new JournalRecord();
    assertTrue(read.wrap(bytes, 0, bytes.length));
    assertEquals(value, read.value());
    assertEquals(value, read.valueView());
    assertEquals(box, read.former());
    assertEquals(deadline, read.deadline());
    new JournalRecord()
        .begin(bytes, 0, RecordDescriptor.PUT, ByteString.EMPTY, value)
        .flags(flags)
        .end();
    assertFalse(read.wrap(bytes, 0, bytes.length), "it has no room for the box");
  }

  /** A view of a record with this LSN and value. */
  private static JournalRecord record(int type, long lsn, ByteString value) {
    final byte[] bytes = new byte[JournalRecord.aligned(ByteString.EMPTY, value, 0)];
    new JournalRecord()
        .begin(bytes, 0, type, ByteString.EMPTY, value)
        .partition(1, 2)
        .place(3, lsn)
        .end();
    return new JournalRecord().at(bytes, 0);
  }

  private static ByteString bytes(JournalRecord... records) {
    final ByteString.Output bytes = ByteString.newOutput();
    for (final JournalRecord record : records) {
      final byte[] one = new byte[RecordDescriptor.aligned(record.length())];
      record.copyTo(one, 0);
      bytes.write(one, 0, one.length);
    }
    return bytes.toByteString();
  }

  @Test
  void aTransactionHasRecordsInItsValue() {
    final ByteString value = ByteString.copyFromUtf8("value");
    final JournalRecord put = record(RecordDescriptor.PUT, 4, value);
    final JournalRecord outcome = record(RecordDescriptor.OUTCOME, 4, ByteString.EMPTY);
    final List<JournalRecord> parts =
        record(RecordDescriptor.TRANSACTION, 4, bytes(put, outcome)).parts();
    assertEquals(2, parts.size());
    assertEquals(value, parts.get(0).value());
    assertEquals(RecordDescriptor.OUTCOME, parts.get(1).type());
    assertEquals(List.of(), record(RecordDescriptor.TRANSACTION, 4, ByteString.EMPTY).parts());
    for (final ByteString malformed :
        List.of(
            bytes(put, outcome).substring(0, 110),
            bytes(put).concat(ByteString.copyFrom(new byte[64])),
            bytes(put, record(RecordDescriptor.PUT, 5, value)),
            bytes(put, record(RecordDescriptor.TICK, 4, RecordDescriptor.value(7))))) {
      assertNull(record(RecordDescriptor.TRANSACTION, 4, malformed).parts());
    }
  }

  @Test
  void fieldsOfASnapshotAreWhereTheyAreDrawn() throws Exception {
    final Map<String, Integer> fields = fields("SnapshotDescriptor");
    final int end = fields.get("END"); // where the second diagram begins
    for (final String name : List.of("FORMAT", "MAGIC", "ORIGIN", "NUMBER", "BEGIN")) {
      assertEquals(fields.get(name), offsetOfSnapshot(name), name);
    }
    for (final String name : List.of("END", "RECORDS", "FILE_CRC")) {
      assertEquals(fields.get(name) - end, offsetOfSnapshot(name), name);
    }
  }

  private static int offsetOfSnapshot(String name) throws Exception {
    return SnapshotDescriptor.class.getDeclaredField(name + "_OFFSET").getInt(null);
  }

  @Test
  void aRecordHasTheseBytes() {
    final byte[] bytes = new byte[80];
    final ByteString key = ByteString.copyFromUtf8("key");
    final ByteString value = ByteString.copyFromUtf8("value");
    new JournalRecord()
        .begin(bytes, 8, RecordDescriptor.PUT, key, value)
        .flags(RecordDescriptor.POSITIVE)
        .partition(0x0102030405060708L, 9)
        .place(10, 11)
        .end();
    assertEquals(
        "956ce22e40000000" // checksum, length
            + "01010300" // type, flags, length of the key
            + "09000000" // partition
            + "0807060504030201" // index
            + "0a00000000000000" // epoch
            + "0b00000000000000" // LSN
            + "00000000000000000000000000000000" // client, request
            + "6b657976616c7565", // key, value
        HexFormat.of().formatHex(bytes, 8, 72));
    final JournalRecord record = new JournalRecord();
    assertTrue(record.wrap(bytes, 8, 72));
    assertEquals(key, record.key());
    assertEquals(value, record.value());
    assertFalse(record.wrap(bytes, 8, 71), "cut");
    for (int bit = 0; bit < 64 * Byte.SIZE; bit++) {
      bytes[8 + bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertFalse(record.wrap(bytes, 8, 72), "bit=" + bit);
      bytes[8 + bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
    }
  }

  @Test
  void aDefinitionHasTheseBytes() {
    final IndexDefinition definition =
        new IndexDefinition(IndexKind.HASH, Durability.DISK, 256, 1, 2);
    assertEquals(
        "010300010000000001000000000000000200000000000000",
        HexFormat.of().formatHex(definition.encoded().toByteArray()));
    assertEquals(definition, IndexDefinition.decoded(definition.encoded()));
  }

  @Test
  void aDefinitionForAppendsHasTheirLimits() {
    final Appends limits = Appends.newBuilder().setRetentionMs(5).setRetentionBytes(6).build();
    final IndexDefinition definition =
        new IndexDefinition(IndexKind.ORDERED, Durability.DISK, 1, 1, 2, limits);
    final ByteString encoded = definition.encoded();
    assertEquals(
        "020301000000000001000000000000000200000000000000" + "05000000000000000600000000000000",
        HexFormat.of().formatHex(encoded.toByteArray()));
    assertEquals(definition, IndexDefinition.decoded(encoded));
    assertEquals(limits, definition.withIncarnation(7).appends());
    assertNull(IndexDefinition.decoded(encoded.substring(0, 32)));
  }

  /** A record of no key and no value, behind its checksum. */
  private static final String REST =
      "38000000" // length
          + "02000000" // type, flags, length of the key
          + "00000000000000000000000000000000" // partition, index, half of the epoch
          + "00000000000000000000000000000000000000000000000000000000"; // LSN, client, request

  private static byte[] batch(int records, long origin, long position) {
    final byte[] record = new byte[RecordDescriptor.KEY_OFFSET];
    new JournalRecord()
        .begin(record, 0, RecordDescriptor.DELETE, ByteString.EMPTY, ByteString.EMPTY)
        .end();
    final Batch batch = new Batch();
    batch.begin(1000);
    for (int i = 0; i < records; i++) {
      batch.add(record, 0, record.length);
    }
    final ByteBuffer written = batch.end(origin, position, 3, 4);
    final byte[] bytes = new byte[written.remaining()];
    written.get(bytes);
    return bytes;
  }

  @Test
  void aBatchHasTheseBytes() {
    assertEquals(
        "00000000" // checksum
            + "a0000000" // length
            + "52464a42" // magic
            + "02000000" // records
            + "0100000000000000" // origin
            + "0002000000000000" // position
            + "0300000000000000" // previous
            + "0400000000000000" // durable
            + "86367373" // checksum of the first record
            + REST
            + "eae95697" // checksum of the second one
            + REST,
        "00000000" + HexFormat.of().formatHex(batch(2, 1, 512), 4, 160));
  }

  /** Also the header of a batch has a length and a checksum where a record has them. */
  @Test
  void aRecordCountsOnlyWhereItWasWritten() {
    final byte[] bytes = batch(2, 1, 512);
    final JournalRecord record = new JournalRecord();
    for (int at = 0; at < bytes.length; at += RecordDescriptor.ALIGNMENT) {
      final boolean isThere = at == 48 || at == 104;
      final int salt = RecordDescriptor.salt(1, 512 + at);
      assertEquals(isThere, record.wrap(bytes, at, bytes.length, salt), "at=" + at);
      assertFalse(record.wrap(bytes, at, bytes.length), "in no batch: at=" + at);
      for (int other = 8; other < 1 << 16; other += 8) {
        final int behind = RecordDescriptor.salt(1, 512 + at + other);
        final int ofOther = RecordDescriptor.salt(1 + other, 512 + at);
        assertFalse(record.wrap(bytes, at, bytes.length, behind), "at=" + at + " other=" + other);
        assertFalse(record.wrap(bytes, at, bytes.length, ofOther), "at=" + at + " other=" + other);
      }
    }
  }

  /** Batches of 17 KiB and more passed for records once, whatever their checksums covered. */
  @Test
  void noHeaderOfABatchIsOneOfARecord() {
    final byte[] bytes = new byte[BatchDescriptor.LENGTH_LIMIT];
    final ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(BatchDescriptor.MAGIC_OFFSET, BatchDescriptor.MAGIC);
    final JournalRecord record = new JournalRecord();
    for (int length = 56; length <= RecordDescriptor.LENGTH_LIMIT; length += 8 * 997) {
      header.putInt(BatchDescriptor.LENGTH_OFFSET, length);
      header.putInt(0, RecordDescriptor.crc(new CRC32C(), bytes, 0, length));
      assertFalse(record.wrap(bytes, 0, bytes.length), "length=" + length);
    }
  }

  /** A copy is a record outside of batches, wherever the original stands. */
  @Test
  void aCopyOfARecordHasNoSalt() {
    final byte[] bytes = batch(1, 1, 512);
    final JournalRecord record = new JournalRecord();
    assertTrue(record.wrap(bytes, 48, bytes.length, RecordDescriptor.salt(1, 560)));
    final byte[] copy = new byte[record.length()];
    record.copyTo(copy, 0);
    assertTrue(new JournalRecord().wrap(copy, 0, copy.length));
    record.copy().copyTo(copy, 0);
    assertTrue(new JournalRecord().wrap(copy, 0, copy.length));
  }

  @Test
  void namesOfSegmentsAreTheirNumbers() {
    assertEquals("journal-0000000012", SegmentDescriptor.name(12));
    assertEquals(12, SegmentDescriptor.number("journal-0000000012"));
    assertEquals(-1, SegmentDescriptor.number("journal-000000001x"));
    assertEquals(-1, SegmentDescriptor.number("journal-12"));
    assertEquals(-1, SegmentDescriptor.number("checkpoint"));
  }
}
