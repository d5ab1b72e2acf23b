package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.v1.GroupState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The indexes in records of a journal of which some may be missing: of each key the newest record
 * that is there. Entries are on the heap.
 *
 * <p>A whole snapshot decides what was there at its time: records that it has the effect of change
 * nothing. Behind it the LSNs of each partition have no gaps, so a missing record shows by the next
 * one of its partition.
 *
 * <p>Used by one thread at a time.
 */
final class SalvagedIndexes implements RecordSink {
  private final Map<Long, Content> contents = new LinkedHashMap<>();
  private final Set<Long> dropped = new HashSet<>();

  /** The latest time that any partition's clock has shown. */
  private long clock;

  /** An index, and its entries. */
  static final class Content {
    private final long number;
    private final Map<ByteString, Newest> entries = new HashMap<>();
    private final Map<Integer, Progress> partitions = new TreeMap<>();
    private @Nullable CatalogEntry entry; // null: its begin is missing
    private long epoch; // the newest one of its group that a record names

    Content(long number) {
      this.number = number;
    }

    long number() {
      return number;
    }

    /** The definition in the record of its begin; null if that is missing. */
    @Nullable CatalogEntry entry() {
      return entry;
    }

    /** The newest records, by their keys. */
    Map<ByteString, Newest> entries() {
      return entries;
    }
  }

  /** The newest record of a key; its value is null if that removes the entry. */
  record Newest(long lsn, ByteString value, long deadline) {}

  /** How far the journal's records of a partition have come. */
  private static final class Progress {
    private long begin; // up to which the snapshot has all
    private long last;
    private long missing;
    private @Nullable String firstMissing;
  }

  /** The indexes that there are, in the order in which their records came first. */
  Collection<Content> contents() {
    return contents.values();
  }

  /** The latest time that any partition's clock has shown, in milliseconds since 1970. */
  long clock() {
    return clock;
  }

  /** Which records are missing, by the LSNs of those that are there; in lines for people. */
  List<String> missing() {
    final List<String> lines = new ArrayList<>();
    for (final Content content : contents.values()) {
      long missing = 0;
      String first = null;
      for (final Map.Entry<Integer, Progress> each : content.partitions.entrySet()) {
        final Progress progress = each.getValue();
        missing += progress.missing;
        if (first == null && progress.firstMissing != null) {
          first = " first: partition=" + each.getKey() + progress.firstMissing;
        }
      }
      if (missing > 0) {
        lines.add(
            "missing records="
                + missing
                + " index="
                + (content.entry == null ? content.number : content.entry.name())
                + first);
      }
    }
    return lines;
  }

  /** Adds an index that was read as a start does; returns what takes its entries. */
  OfflineIndexes.EntrySink add(CatalogEntry entry) {
    final Content content = content(entry.number());
    content.entry = entry;
    return found -> {
      content.entries.put(
          found.getKey(), new Newest(found.getVersion(), found.getValue(), found.getDeadlineMs()));
      return true;
    };
  }

  @Override
  public void onSnapshotRecord(JournalRecord record, Supplier<String> place) {
    switch (record.type()) {
      case RecordDescriptor.PARTITION -> {
        final Progress progress = progress(content(record.index()), record.partition());
        progress.begin = record.lsn();
        progress.last = record.lsn();
        tick(record);
      }
      case RecordDescriptor.GROUP_BEGIN -> {
        contents.remove(record.index()); // the copy of the group begins, perhaps once more
        begin(record);
      }
      case RecordDescriptor.PUT -> add(record, record.value());
      default -> take(record);
    }
  }

  @Override
  public void onRecord(JournalRecord record, Supplier<String> place) {
    switch (record.type()) {
      case RecordDescriptor.PUT,
          RecordDescriptor.DELETE,
          RecordDescriptor.TICK,
          RecordDescriptor.GAP,
          RecordDescriptor.OUTCOME,
          RecordDescriptor.TRANSACTION -> {
        if (isNew(record)) {
          advance(progress(content(record.index()), record.partition()), record.lsn());
        }
        take(record);
      }
      default -> take(record);
    }
  }

  /** Takes a record of a snapshot of which others are missing. */
  void onPartialRecord(JournalRecord record, Supplier<String> place) {
    take(record);
  }

  private static Progress progress(Content content, int partition) {
    return content.partitions.computeIfAbsent(partition, number -> new Progress());
  }

  /** Counts the LSNs between two records of a partition, but for those that a start has skipped. */
  private static void advance(Progress progress, long lsn) {
    final long before = Math.max(progress.last, Recoveries.versionsBefore(lsn));
    final long between = (lsn - before - 1) % Journal.LOST_LIMIT;
    if (between > 0) {
      progress.missing += between;
      if (progress.firstMissing == null) {
        progress.firstMissing = " behind=" + progress.last + " before=" + lsn;
      }
    }
    progress.last = Math.max(progress.last, lsn);
  }

  /** Whether the snapshot does not have the effect of a record. */
  private boolean isNew(JournalRecord record) {
    if (dropped.contains(record.index())) {
      return false;
    }
    final Content content = contents.get(record.index());
    final Progress progress = content == null ? null : content.partitions.get(record.partition());
    return progress == null || record.lsn() > progress.begin;
  }

  private void take(JournalRecord record) {
    switch (record.type()) {
      case RecordDescriptor.GROUP_BEGIN -> {
        final Content content = contents.get(record.index());
        if (content != null && record.epoch() > content.epoch) {
          contents.remove(record.index()); // its former records are void
        }
        begin(record);
      }
      case RecordDescriptor.CREATE_INDEX -> create(record);
      case RecordDescriptor.GROUP_EPOCH -> obey(record);
      case RecordDescriptor.GROUP_END, RecordDescriptor.DROP_INDEX -> {
        dropped.add(record.index());
        contents.remove(record.index());
      }
      case RecordDescriptor.PARTITION, RecordDescriptor.TICK -> tick(record);
      case RecordDescriptor.PUT -> addNew(record, record.value());
      case RecordDescriptor.DELETE -> addNew(record, null);
      case RecordDescriptor.TRANSACTION -> {
        final List<JournalRecord> parts = record.parts();
        if (parts != null) { // else a checksum was right by chance
          parts.forEach(this::take);
        }
      }
      default -> {} // of no entry
    }
  }

  private Content content(long index) {
    return contents.computeIfAbsent(index, Content::new);
  }

  /** Takes the begin of an index in a directory of format 2 or 3. */
  private void create(JournalRecord record) {
    final IndexDefinition definition = IndexDefinition.decoded(record.value());
    if (definition != null && !dropped.contains(record.index())) {
      content(record.index()).entry =
          new CatalogEntry(record.index(), record.key().toStringUtf8(), definition);
    }
  }

  private void begin(JournalRecord record) {
    final GroupState state;
    try {
      state = GroupState.parseFrom(record.value());
    } catch (InvalidProtocolBufferException e) { // a checksum was right by chance
      return;
    }
    final IndexDefinition definition = IndexDefinition.of(state);
    if (definition != null && !dropped.contains(record.index())) {
      content(record.index()).entry =
          new CatalogEntry(record.index(), state.getIndex(), definition);
      obey(record);
    }
  }

  private void obey(JournalRecord record) {
    if (!dropped.contains(record.index())) {
      final Content content = content(record.index());
      content.epoch = Math.max(content.epoch, record.epoch());
    }
  }

  private void tick(JournalRecord record) {
    clock = Math.max(clock, record.number());
  }

  private void addNew(JournalRecord record, ByteString value) {
    if (isNew(record)) {
      add(record, value);
    }
  }

  private void add(JournalRecord record, ByteString value) {
    content(record.index())
        .entries
        .merge(
            record.key(),
            new Newest(record.lsn(), value, record.deadline()),
            (before, now) -> now.lsn >= before.lsn ? now : before);
  }
}
