package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.OutcomeDescriptor;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.partition.WriteKind;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.v1.Entry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the records of an index with one partition have done, in their order, over all servers. A
 * crash cuts it where the next server goes on.
 */
final class IndexHistory {
  /**
   * The effect of one record.
   *
   * @param id of the numbered write; empty: it has no number
   * @param changes of the record, in their order
   */
  record Done(long lsn, String id, OutcomeKind kind, long detail, List<KeyChange> changes) {
    boolean isChange() {
      return !changes.isEmpty();
    }

    @Override
    public String toString() {
      return kind + " lsn=" + lsn + " detail=" + detail;
    }
  }

  /** The change of a key, with its value; null if it was removed. */
  record KeyChange(ByteString key, @Nullable ByteString value) {}

  private final List<Done> all = new ArrayList<>();

  private final Map<String, List<Done>> numbered = new HashMap<>();

  /** The identity of a numbered write. */
  static String id(long client, long number) {
    return client + "/" + number;
  }

  /** The records of a numbered write. */
  List<Done> of(String id) {
    return numbered.getOrDefault(id, List.of());
  }

  /** The smallest key that has a value; null if there is none. */
  @Nullable ByteString firstKey() {
    return values().keySet().stream()
        .min(ByteString.unsignedLexicographicalComparator())
        .orElse(null);
  }

  private Map<ByteString, ByteString> values() {
    final Map<ByteString, ByteString> values = new HashMap<>();
    for (final Done done : all) {
      for (final KeyChange change : done.changes) {
        if (change.value == null) {
          values.remove(change.key);
        } else {
          values.put(change.key, change.value);
        }
      }
    }
    return values;
  }

  /** LSN of the last record. */
  long last() {
    return all.isEmpty() ? 0 : all.get(all.size() - 1).lsn;
  }

  /** Notes that the record of a write was appended. */
  void append(Write write, long lsn) {
    check(lsn > last(), "lsn=" + lsn + " last=" + last());
    if (write.kind() == WriteKind.TICK) {
      return;
    }
    final boolean isNumbered = write.client() != null;
    final List<KeyChange> changes = new ArrayList<>();
    for (Write part = write.firstPart(); part != null; part = part.nextPart()) {
      if (!part.isUnchanged()) {
        changes.add(new KeyChange(part.key(), part.removesEntry() ? null : part.value()));
      }
    }
    add(
        new Done(
            lsn,
            isNumbered ? id(write.client().id(), write.number()) : "",
            write.outcomeKind(),
            write.detail(),
            changes));
  }

  private void add(Done done) {
    all.add(done);
    if (!done.id.isEmpty()) {
      numbered.computeIfAbsent(done.id, id -> new ArrayList<>()).add(done);
    }
  }

  /**
   * Cuts off what the disk has lost, and compares the rest with what it has.
   *
   * @param journaled the numbered writes that the journal has behind the snapshot
   */
  void recover(RecoveredIndex found, List<JournalRecord> journaled) {
    final List<Done> kept = all.stream().filter(done -> done.lsn <= found.last(0)).toList();
    all.clear();
    numbered.clear();
    kept.forEach(this::add);
    compare(found.index().partition(0));
    final Map<Long, Done> byLsn = new HashMap<>();
    kept.forEach(done -> byLsn.put(done.lsn, done));
    for (final JournalRecord record : journaled) {
      final Done done = byLsn.get(record.lsn());
      check(
          done != null
              && done.id.equals(id(record.client(), NumberedClient.number(record.request())))
              && done.kind == kind(record)
              && (done.kind == OutcomeKind.DELETED || isDetail(record, done.detail)),
          done + " journal=" + record);
    }
    numbered.forEach((id, list) -> checkOnce(id));
  }

  private static OutcomeKind kind(JournalRecord record) {
    return switch (record.type()) {
      case RecordDescriptor.PUT -> OutcomeKind.WRITTEN;
      case RecordDescriptor.DELETE -> OutcomeKind.DELETED;
      default -> OutcomeDescriptor.kind(record.value());
    };
  }

  private static boolean isDetail(JournalRecord record, long detail) {
    final ByteString value = record.value();
    if (record.type() == RecordDescriptor.OUTCOME) {
      return OutcomeDescriptor.detail(value) == detail;
    }
    return detail == 0
        || (CounterDescriptor.isCounter(value) && CounterDescriptor.number(value) == detail);
  }

  private void compare(EntryStore store) {
    final Map<ByteString, ByteString> values = values();
    final Map<ByteString, Long> versions = new HashMap<>();
    for (final Done done : all) {
      done.changes.forEach(change -> versions.put(change.key, done.lsn));
    }
    check(values.size() == store.count(), "count=" + store.count() + " " + values.size());
    values.forEach(
        (key, value) -> {
          final Entry entry = store.entry(key);
          check(
              entry != null
                  && entry.getVersion() == versions.get(key)
                  && entry.getValue().equals(value),
              "key=" + key.toStringUtf8() + " lsn=" + versions.get(key) + " entry=" + entry);
        });
  }

  /**
   * No write was carried out twice; but a range has a record of each delete, and one at its end.
   */
  void checkOnce(String id) {
    final List<Done> list = of(id);
    final long deletes = list.stream().filter(done -> done.kind == OutcomeKind.DELETED).count();
    final boolean isRange = list.stream().anyMatch(done -> done.kind == OutcomeKind.RANGE);
    if (!isRange && deletes == list.size()) {
      return; // deletes of a range that has not ended are several; others were checked before
    }
    check(list.size() == (isRange ? deletes + 1 : 1), "twice: id=" + id + " " + list);
    if (isRange) {
      final Done last = list.get(list.size() - 1);
      check(last.kind == OutcomeKind.RANGE && last.detail >> 1 == deletes, id + " " + list);
    }
  }

  private static void check(boolean holds, Object otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
