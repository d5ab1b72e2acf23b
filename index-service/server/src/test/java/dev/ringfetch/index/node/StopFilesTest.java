package dev.ringfetch.index.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.replication.StopRecords;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.UnreadFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The files of orderly stops, on a disk that loses its power, or what it has. */
final class StopFilesTest implements GroupStore {
  private static final long GROUP = 5;
  private static final long NODE = 7;

  private final SimulatedDisk disk = new SimulatedDisk();
  private final StopFiles files = new StopFiles(disk);
  private final List<Throwable> errors = new ArrayList<>();
  private int applied;
  private boolean fails;

  private byte[] record(int type, long epoch, ByteString value) {
    final byte[] bytes = new byte[JournalRecord.aligned(ByteString.EMPTY, value, 0)];
    new JournalRecord()
        .begin(bytes, 0, type, ByteString.EMPTY, value)
        .partition(GROUP, 0)
        .place(epoch, 1)
        .end();
    return bytes;
  }

  private static ByteString words(long... words) {
    final ByteBuffer value =
        ByteBuffer.allocate(words.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (final long word : words) {
      value.putLong(word);
    }
    return ByteString.copyFrom(value.flip());
  }

  /** All but the last record: a log of many records, more than are read at once. */
  private byte[] content() {
    final ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.writeBytes(
        record(
            RecordDescriptor.GROUP_BEGIN,
            3,
            GroupState.newBuilder().setGroup(GROUP).build().toByteString()));
    content.writeBytes(record(RecordDescriptor.GROUP_EPOCH, 3, words(0)));
    for (int i = 0; i < 20; i++) {
      content.writeBytes(record(RecordDescriptor.PUT, 3, ByteString.copyFrom(new byte[300_000])));
    }
    content.writeBytes(record(RecordDescriptor.GROUP_COMMIT, 3, words(20)));
    return content.toByteArray();
  }

  private byte[] last(long length, long node) {
    return record(RecordDescriptor.GROUP_STOP, 3, words(length, node, 42));
  }

  private void write(long node) throws IOException {
    final byte[] content = content();
    try (StopRecords.Writer writer = files.create(GROUP)) {
      writer.add(content);
      writer.add(last(content.length, node));
      writer.finish();
    }
  }

  private List<GroupRecovery> read() throws IOException {
    final List<GroupRecovery> found = new ArrayList<>();
    new StopFiles(disk).read(NODE, group -> this, found::add, errors::add);
    return found;
  }

  @Test
  void aRecordSurvivesALossOfPowerAndItsRemovalToo() throws IOException {
    final Random random = new Random(29);
    for (int i = 0; i < 20; i++) {
      write(NODE);
      disk.powerCut(random);
      applied = 0;
      final List<GroupRecovery> found = read();
      assertEquals(1, found.size());
      assertEquals(GROUP, found.get(0).group());
      assertEquals(20, applied);
      files.delete(Set.of(GROUP));
      disk.powerCut(random);
      assertEquals(List.of(), read());
    }
    assertEquals(List.of(), errors);
  }

  @Test
  void aRecordThatIsNotFinishedIsNotThere() throws IOException {
    final Random random = new Random(29);
    for (int i = 0; i < 20; i++) {
      final StopRecords.Writer writer = files.create(GROUP);
      final byte[] content = content();
      writer.add(content);
      writer.add(last(content.length, NODE));
      disk.powerCut(random);
      assertEquals(List.of(), read());
      assertEquals(List.of(), disk.names()); // which may be as long as the index
    }
    final StopRecords.Writer writer = files.create(GROUP); // in the place of what is left
    writer.add(content());
    writer.close();
    assertEquals(List.of(), disk.names());
    assertEquals(List.of(), errors);
  }

  private static String unread(StopFiles files, long group, Durability level) {
    final UnreadFile file =
        files.unread(
            GroupState.newBuilder()
                .setGroup(group)
                .setDefinition(new IndexDefinition(IndexKind.HASH, level, 1, 1, 9).encoded())
                .build());
    return file == null ? "" : file.getName() + ": " + file.getReason();
  }

  @Test
  void aDamagedRecordCountsForNothingAndIsNamed() throws IOException {
    write(NODE);
    final String name = disk.names().get(0);
    final Random random = new Random(29);
    for (int i = 0; i < 20; i++) {
      final byte[] content = disk.content(name).clone();
      final int at = random.nextInt(content.length);
      content[at] ^= 1;
      final SimulatedDisk damaged = new SimulatedDisk();
      damaged.content(name, content);
      final List<GroupRecovery> found = new ArrayList<>();
      final StopFiles next = new StopFiles(damaged);
      next.read(NODE, group -> this, found::add, errors::add);
      assertEquals(
          found.isEmpty(),
          unread(next, GROUP, Durability.MEMORY).startsWith(name + ": simulated/"));
      assertEquals("", unread(next, GROUP + 1, Durability.MEMORY));
      next.delete(Set.of(GROUP));
      assertEquals("", unread(next, GROUP, Durability.MEMORY));
      // What fills a record up has no checksum.
      assertTrue(found.isEmpty() ? errors.size() == 1 : errors.isEmpty(), "offset=" + at);
      errors.clear();
    }
    final byte[] content = disk.content(name);
    final SimulatedDisk cut = new SimulatedDisk();
    cut.content(name, Arrays.copyOf(content, content.length - 72));
    final List<GroupRecovery> found = new ArrayList<>();
    new StopFiles(cut).read(NODE, group -> this, found::add, errors::add);
    assertEquals(List.of(), found);
  }

  @Test
  void filesThatCannotBeListedMayBeThere() {
    disk.failAfter(0, SimulatedDisk.Fault.IO_ERROR);
    assertThrows(
        IOException.class, () -> files.read(NODE, group -> this, found -> {}, errors::add));
    assertFalse(unread(files, GROUP, Durability.MEMORY).isEmpty());
    assertEquals("", unread(files, GROUP, Durability.DISK)); // which has none
  }

  @Test
  void aRecordOfAnotherDirectoryCountsForNothing() throws IOException {
    write(NODE + 1);
    assertEquals(List.of(), read());
    assertEquals(1, errors.size());
  }

  @Override
  public void clear(GroupState group) {
    if (fails) {
      throw new IllegalStateException("the store fails");
    }
  }

  @Test
  void aRecordThatAStoreCannotHaveIsLeftOut() throws IOException {
    write(NODE);
    fails = true;
    assertEquals(List.of(), read());
    assertEquals(1, errors.size());
    assertEquals(Set.of(GROUP), files.groups());
  }

  @Override
  public void apply(JournalRecord record) {
    applied++;
  }

  @Override
  public void restore(JournalRecord record) {}

  @Override
  public void lead(GroupLog log, GroupState group) {
    throw new AssertionError();
  }

  @Override
  public void reconfigured(GroupState group) {
    throw new AssertionError();
  }

  @Override
  public void endWrites() {
    throw new AssertionError();
  }

  @Override
  public void follow() {}

  @Override
  public GroupSnapshot snapshot(Runnable wake) {
    throw new AssertionError();
  }
}
