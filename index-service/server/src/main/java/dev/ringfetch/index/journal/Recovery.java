package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The recovery of a journal: reads all records, and distinguishes damage from the unfinished writes
 * of a crash.
 *
 * <p>The synced position is known twice: from the checkpoint, and from later batches, which name
 * it. If the batches end before that position, or a batch before it is not as it was written, the
 * disk has lost or changed data: the recovery refuses the journal, and changes nothing. An
 * incomplete batch after that position was being written at a crash: the recovery cuts off the rest
 * of the journal from there, and fills it with zeros, so that it never comes back.
 */
final class Recovery {
  private static final int CHUNK = 64 << 10;

  /**
   * The result of a recovery.
   *
   * @param end position behind the last batch
   * @param previous the same, but 0 if there is no batch
   * @param copied whether this is a copy, on which no server has started
   * @param choice the snapshot that was taken
   */
  record Result(long end, long previous, boolean copied, SnapshotChoice choice) {}

  private final Disk disk;
  private final long origin;
  private final RecordSink sink;
  private final RecoveryProgress progress;
  private final List<SegmentFile> segments = new ArrayList<>();
  private final List<String> unfinished = new ArrayList<>();

  /** The segment in which the batches end, and the later ones, in their order. */
  private final List<SegmentContent> ends = new ArrayList<>();

  private final JournalRecord record = new JournalRecord();

  /** Describes the place of the record that the sink is processing. */
  private final Supplier<String> place = this::describePlace;

  private String placeName;
  private long placeOffset;
  private SnapshotChoice choice = SnapshotChoice.none();
  private long previous;
  private long bytesRead;
  private long bytesTotal;
  private long recordsRead;

  private Recovery(Disk disk, JournalContext context, RecordSink sink) {
    this.disk = disk;
    this.origin = context.origin;
    this.sink = sink;
    progress = context.progress;
  }

  static Journal open(Disk disk, JournalContext context, RecordSink sink) throws IOException {
    final SegmentWriter writer =
        new SegmentWriter(disk, context.origin, context.segmentLength, context.owner);
    if (!disk.list().contains(Checkpoint.NAME)) {
      return NewJournal.create(disk, context, writer);
    }
    final Checkpoint checkpoint = Checkpoint.open(disk, context.origin);
    boolean opened = false;
    try {
      final Recovery recovery = new Recovery(disk, context, sink);
      final boolean copied = checkpoint.isCopied();
      final long end = recovery.read(checkpoint);
      recovery.cut(checkpoint.durable(), end, writer);
      // The mark of a copy stays until the first sync, behind which the node goes on.
      checkpoint.write(end, copied ? Checkpoint.End.COPIED : Checkpoint.End.NONE);
      checkpoint.sync();
      opened = true;
      return new Journal(
          context, writer, checkpoint, new Result(end, recovery.previous, copied, recovery.choice));
    } finally {
      if (!opened) {
        writer.close();
        checkpoint.close();
      }
    }
  }

  /** Reads everything as {@link #open} does, without changes. */
  static JournalInspection verify(Disk disk, JournalContext context, RecordSink sink)
      throws IOException {
    try (Checkpoint checkpoint = Checkpoint.open(disk, context.origin)) {
      final Recovery recovery = new Recovery(disk, context, sink);
      final long end = recovery.read(checkpoint);
      final long unfinishedBytes = recovery.unfinishedBytes(end);
      return new JournalInspection(
          recovery.segments.size(),
          recovery.recordsRead,
          end,
          unfinishedBytes,
          checkpoint.isWhole() && unfinishedBytes == 0,
          checkpoint.isClean() || checkpoint.isCopied(),
          recovery.choice.snapshot() == null ? 0 : recovery.choice.snapshot().number(),
          recovery.faults(checkpoint));
    }
  }

  /** Length of the unfinished bytes after the end, up to the last byte that is not 0. */
  private long unfinishedBytes(long end) throws IOException {
    final int number = segments.size() - ends.size();
    long bytes = 0;
    for (int i = 0; i < ends.size(); i++) {
      final int begin = i == 0 ? offset(segments.get(number), end) : SegmentDescriptor.BATCH_OFFSET;
      bytes += ends.get(i).zerosFrom(begin) - begin;
    }
    for (final String name : unfinished) {
      bytes += lengthWithoutZeros(name);
    }
    return bytes;
  }

  /** The bytes of a file up to the last that is not 0; 0 for a segment that was being prepared. */
  private long lengthWithoutZeros(String name) throws IOException {
    final byte[] bytes = new byte[CHUNK];
    long length = 0;
    try (DiskFile file = disk.open(name)) {
      int read;
      for (long position = 0; position < file.length(); position += read) {
        read = file.read(position, ByteBuffer.wrap(bytes));
        for (int i = read; i > 0 && length <= position; i--) {
          length = bytes[i - 1] == 0 ? length : position + i;
        }
      }
    }
    return length;
  }

  /** Damage that does not prevent a start. */
  private List<String> faults(Checkpoint checkpoint) throws IOException {
    final List<String> faults = new ArrayList<>();
    if (!checkpoint.isWhole()) {
      faults.add("damaged in one of its two slots: file=" + disk.describe(Checkpoint.NAME));
    }
    SnapshotFile oldest = choice.snapshot();
    for (final String name : disk.list()) {
      final long number = SnapshotDescriptor.number(name);
      if (number < 0) {
        continue;
      }
      final SnapshotFile snapshot = SnapshotFile.read(disk, name, number, origin);
      if (snapshot == null) {
        faults.add("a damaged snapshot, which a start passes over: file=" + disk.describe(name));
      } else if (oldest != null && snapshot.begin() < oldest.begin()) {
        oldest = snapshot;
      }
    }
    if (oldest != null) {
      checkBefore(oldest, faults);
    }
    return faults;
  }

  /** Checks the batches before those that a start reads; older snapshots need them. */
  private void checkBefore(SnapshotFile oldest, List<String> faults) throws IOException {
    int number = 0;
    int offset = SegmentDescriptor.BATCH_OFFSET;
    if (segments.get(0).base() == 0) { // no segment is missing
      previous = 0;
    } else {
      number = begin(oldest);
      offset = Math.max(offset, offset(segments.get(number), oldest.begin()));
    }
    SegmentContent content = load(segments.get(number), null);
    while (segments.get(number).base() + offset < choice.snapshot().begin()) {
      final int length = content.batchAfter(previous, offset);
      if (length > 0) {
        offset += length;
        previous = segments.get(number).base() + offset;
      } else if (content.zerosFrom(offset) > offset || number + 1 == segments.size()) {
        faults.add(
            "damaged before the snapshot that a start takes: file="
                + disk.describe(segments.get(number).name())
                + " offset="
                + offset);
        return;
      } else {
        number++;
        content = load(segments.get(number), content);
        offset = SegmentDescriptor.BATCH_OFFSET;
      }
    }
  }

  /** Reads all batches; returns the position after the last whole one. */
  private long read(Checkpoint checkpoint) throws IOException {
    findSegments();
    if (segments.isEmpty()) {
      throw new JournalDamagedException(
          "missing, as the checkpoint is there: file=" + disk.describe(SegmentDescriptor.name(1)));
    }
    choice = SnapshotChoice.of(disk, origin, segments.get(0));
    int number = 0;
    int offset = SegmentDescriptor.BATCH_OFFSET;
    if (choice.snapshot() != null) {
      number = begin(choice.snapshot());
      offset = Math.max(offset, offset(segments.get(number), choice.snapshot().begin()));
    }
    segments.subList(number, segments.size()).forEach(each -> bytesTotal += each.length());
    if (choice.snapshot() != null) {
      load(choice.snapshot());
    }
    SegmentContent content = load(segments.get(number), null);
    SegmentContent former = null;
    while (true) {
      final int length = content.batchAfter(previous, offset);
      if (length > 0) {
        replay(segments.get(number), content, offset, length);
        offset += length;
        previous = segments.get(number).base() + offset;
        read(length);
        continue;
      }
      final SegmentContent next =
          number + 1 < segments.size() ? load(segments.get(number + 1), former) : null;
      if (next == null || next.batchAfter(previous, SegmentDescriptor.BATCH_OFFSET) == 0) {
        for (final SnapshotFile stop : StopFiles.whole(disk, origin, sink)) {
          load(stop);
        }
        sink.onEnd();
        keepEnds(number, content, next);
        checkEnd(checkpoint, number, offset);
        return segments.get(number).base() + offset;
      }
      if (content.zerosFrom(offset) > offset) {
        throw damaged(segments.get(number), offset, "not zeros behind the last batch of a segment");
      }
      former = content;
      content = next;
      number++;
      offset = SegmentDescriptor.BATCH_OFFSET;
    }
  }

  /** Finds the first segment to read after a snapshot. */
  private int begin(SnapshotFile snapshot) throws JournalDamagedException {
    int number = segments.size() - 1;
    // If the batches end at the end of the segment, they continue in the next one.
    while (number > 0 && segments.get(number).base() >= snapshot.begin()) {
      number--;
    }
    if (segments.get(number).end() < snapshot.begin()) {
      throw shorter(snapshot, segments.get(number).end());
    }
    // As the next batch names it: there is no batch before the first of all.
    previous = snapshot.begin() == SegmentDescriptor.BATCH_OFFSET ? 0 : snapshot.begin();
    return number;
  }

  private void load(SnapshotFile snapshot) throws IOException {
    bytesTotal += snapshot.length();
    sink.onSnapshot(snapshot.entries());
    final long[] last = {0};
    snapshot.replay(
        disk,
        origin,
        (snapshotRecord, at) -> {
          placeName = snapshot.name();
          placeOffset = at;
          sink.onSnapshotRecord(snapshotRecord, place);
          recordsRead++;
          if (at - last[0] >= BatchDescriptor.LENGTH_SOFT_LIMIT) {
            read(at - last[0]);
            last[0] = at;
          }
        });
    read(snapshot.length() - last[0]);
  }

  private void read(long length) {
    bytesRead += length;
    progress.onProgress(bytesRead, bytesTotal, recordsRead);
  }

  private JournalDamagedException shorter(SnapshotFile snapshot, long end) {
    return new JournalDamagedException(
        "the journal ends before what a snapshot of it has: file="
            + disk.describe(snapshot.name())
            + " needs="
            + snapshot.end()
            + " end="
            + end);
  }

  /** Reads a segment, in place of a former one, which is not used any more, if there is one. */
  private SegmentContent load(SegmentFile segment, SegmentContent former) throws IOException {
    return SegmentContent.read(disk, segment.name(), segment.base(), origin, former);
  }

  private void keepEnds(int number, SegmentContent last, SegmentContent next) throws IOException {
    ends.add(last);
    if (next != null) {
      ends.add(next);
    }
    for (int i = number + 2; i < segments.size(); i++) {
      ends.add(load(segments.get(i), null));
    }
  }

  private void findSegments() throws IOException {
    long expected = -1;
    for (final String name : disk.list()) {
      final long number = SegmentDescriptor.number(name);
      if (number < 0) {
        continue;
      }
      if (expected >= 0 && number != expected) {
        throw new JournalDamagedException(
            "missing: file=" + disk.describe(SegmentDescriptor.name(expected)));
      }
      expected = number + 1;
      final SegmentFile segment = SegmentFile.read(disk, name, number, origin);
      if (segment == null) {
        unfinished.add(name);
      } else if (!unfinished.isEmpty()
          || (!segments.isEmpty() && segments.get(segments.size() - 1).end() != segment.base())) {
        throw new JournalDamagedException(
            "damaged header: file="
                + disk.describe(unfinished.isEmpty() ? name : unfinished.get(0))
                + " offset=0");
      } else {
        segments.add(segment);
      }
    }
  }

  private void replay(SegmentFile segment, SegmentContent content, int offset, int length)
      throws IOException {
    final byte[] bytes = content.bytes();
    final int end = offset + length;
    int position = offset + BatchDescriptor.RECORD_OFFSET;
    int left = RecordDescriptor.getInt(bytes, offset + BatchDescriptor.RECORDS_OFFSET);
    while (position < end && left > 0) {
      final int salt = RecordDescriptor.salt(origin, segment.base() + position);
      if (!record.wrap(bytes, position, end, salt)) {
        throw damaged(segment, position, "no record in a batch, or one of a newer version");
      }
      recordsRead++;
      placeName = segment.name();
      placeOffset = position;
      sink.onRecord(record, place);
      position += RecordDescriptor.aligned(record.length());
      left--;
    }
    if (left != 0 || position != end) {
      throw damaged(segment, offset, "a batch with another number of records");
    }
  }

  /** Decides whether the batches may end here, so that the rest was left by a crash. */
  private void checkEnd(Checkpoint checkpoint, int number, int offset) throws IOException {
    final SegmentFile segment = segments.get(number);
    final long end = segment.base() + offset;
    long durable = Math.max(checkpoint.durable(), ends.get(0).durableFrom(offset));
    boolean zero = ends.get(0).zerosFrom(offset) == offset;
    for (final SegmentContent behind : ends.subList(1, ends.size())) {
      durable = Math.max(durable, behind.durableFrom(SegmentDescriptor.BATCH_OFFSET));
      zero &= behind.zerosFrom(SegmentDescriptor.BATCH_OFFSET) == SegmentDescriptor.BATCH_OFFSET;
    }
    if (end < durable) {
      throw damaged(segment, offset, "damaged before durable=" + durable);
    }
    final SnapshotFile snapshot = choice.snapshot();
    if (snapshot != null) {
      if (end < snapshot.end()) {
        throw shorter(snapshot, end);
      }
      checkReaches(segment, snapshot);
    }
    if (checkpoint.isClean() && (end != checkpoint.durable() || !zero)) {
      throw damaged(segment, offset, "not as its server left it in order");
    }
  }

  /**
   * Decides whether the journal was written up to a snapshot's begin: the next batch names that
   * position, or the batches of the segment lead to it.
   */
  private void checkReaches(SegmentFile segment, SnapshotFile snapshot)
      throws JournalDamagedException {
    if (previous != snapshot.begin()) {
      return;
    }
    final SegmentContent content = ends.get(0);
    final long to = snapshot.begin() - segment.base();
    int offset = SegmentDescriptor.BATCH_OFFSET;
    int length = content.batchAt(offset); // whatever its predecessor
    while (length > 0 && offset < to) {
      offset += length;
      length = content.batchAfter(segment.base() + offset, offset);
    }
    if (offset < to) {
      throw damaged(segment, offset, "damaged, or ends before " + snapshot.name() + " begins");
    }
  }

  private JournalDamagedException damaged(SegmentFile segment, int offset, String what) {
    return new JournalDamagedException(what + ": " + place(segment, offset));
  }

  private String place(SegmentFile segment, int offset) {
    return place(segment.name(), offset);
  }

  private String place(String name, long offset) {
    return "file=" + disk.describe(name) + " offset=" + offset;
  }

  private String describePlace() {
    return place(placeName, placeOffset);
  }

  /**
   * Fills everything after the end with zeros, syncs, and opens the segment with the end.
   *
   * <p>It also rewrites everything that the checkpoint does not cover: after a failed sync, the
   * kernel may consider unwritten pages as written, and the next sync would skip them.
   */
  private void cut(long durable, long end, SegmentWriter writer) throws IOException {
    unfinished.addAll(choice.unfinished());
    for (final String name : unfinished) {
      disk.delete(name);
    }
    final int number = segments.size() - ends.size();
    for (final SegmentFile before : segments.subList(0, number)) {
      if (durable < before.end()) {
        settle(before, load(before, null), offset(before, durable), offset(before, end));
      }
    }
    final SegmentFile last = segments.get(number);
    settle(last, ends.get(0), offset(last, durable), offset(last, end));
    long nextLength = 0;
    for (int i = number + 1; i < segments.size(); i++) {
      final SegmentFile behind = segments.get(i);
      if (i == number + 1) {
        final int begin = SegmentDescriptor.BATCH_OFFSET;
        settle(behind, ends.get(1), begin, begin);
        nextLength = behind.length();
      } else {
        disk.delete(behind.name());
      }
    }
    disk.syncDirectory();
    writer.open(last.number(), last.base(), last.length(), end, nextLength);
  }

  private static int offset(SegmentFile segment, long position) {
    return (int) (Math.max(segment.base(), Math.min(position, segment.end())) - segment.base());
  }

  /** Rewrites a part of a segment, writes zeros after it, and syncs. */
  private void settle(SegmentFile segment, SegmentContent content, int begin, int end)
      throws IOException {
    final int zerosBegin = content.zerosFrom(end);
    try (DiskFile file = disk.open(segment.name())) {
      if (end > begin) {
        file.write(begin, ByteBuffer.wrap(content.bytes(), begin, end - begin));
      }
      if (zerosBegin > end) {
        file.write(end, ByteBuffer.allocate(zerosBegin - end));
      }
      file.sync();
    }
  }
}
