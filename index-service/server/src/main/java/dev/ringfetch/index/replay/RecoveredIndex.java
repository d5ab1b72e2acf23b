package dev.ringfetch.index.replay;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.StoredIndex;
import org.jspecify.annotations.Nullable;

/**
 * An index that a server has found in its journal: its store, with all entries, how far each
 * partition has come, and the outcomes of writes with numbers.
 *
 * <p>Used by one thread at a time.
 */
public final class RecoveredIndex {
  private final CatalogEntry entry;
  private final StoredIndex index;
  private final long[] last;
  private final OutcomeTable[] outcomes;

  /** Of each partition, the LSN up to which all records are in the snapshot. */
  private final long[] begins;

  RecoveredIndex(CatalogEntry entry, StoredIndex index, OutcomeBudget budget) {
    this.entry = entry;
    this.index = index;
    last = new long[index.partitions()];
    begins = new long[last.length];
    outcomes = new OutcomeTable[last.length];
    for (int i = 0; i < outcomes.length; i++) {
      outcomes[i] = new OutcomeTable(budget);
    }
  }

  /** The catalog's entry of the index. */
  public CatalogEntry entry() {
    return entry;
  }

  /** Its store. */
  public StoredIndex index() {
    return index;
  }

  /** Begins a partition with what a snapshot has; returns false if there is no such partition. */
  boolean begin(int partition, long lsn) {
    if (partition < 0 || partition >= last.length || lsn < 0 || lsn > CommitLog.MAX_LSN) {
      return false;
    }
    begins[partition] = lsn;
    last[partition] = lsn;
    return true;
  }

  /** The store of a partition, into which an entry of a snapshot goes; null if there is none. */
  @Nullable EntryStore restored(int partition) {
    return partition < 0 || partition >= last.length ? null : index.partition(partition);
  }

  /** Whether the snapshot has the effect of the record of this LSN. */
  boolean has(int partition, long lsn) {
    return partition >= 0 && partition < last.length && lsn > 0 && lsn <= begins[partition];
  }

  /** The store of a partition, into which the record of this LSN goes; null if none can have it. */
  @Nullable EntryStore advance(int partition, long lsn) {
    if (partition < 0
        || partition >= last.length
        || lsn <= last[partition]
        || lsn > CommitLog.MAX_LSN) {
      return null;
    }
    last[partition] = lsn;
    return index.partition(partition);
  }

  /** Outcomes that a partition keeps. */
  public OutcomeTable outcomes(int partition) {
    return outcomes[partition];
  }

  /**
   * Keeps the outcome that a record has, if its client may still need it; counts deletes.
   *
   * @param packed number of the request, as the record has it
   */
  void keep(int partition, NumberedClient client, long packed, Outcome outcome) {
    final long number = NumberedClient.number(packed);
    client.complete(NumberedClient.firstIncomplete(packed));
    if (!client.keeps(number)) {
      return;
    }
    final OutcomeTable table = outcomes[partition];
    final int place = table.find(client, number);
    if (place != OutcomeTable.NONE && table.lsn(place) >= outcome.lsn) {
      return; // a snapshot has the outcome of this record, or of a later one
    }
    long detail = outcome.detail;
    if (outcome.kind == OutcomeKind.DELETED && detail == 0) {
      detail = place == OutcomeTable.NONE ? 1 : table.detail(place) + 1;
    }
    if (place == OutcomeTable.NONE) {
      table.force();
    }
    table.keep(client, number, outcome.kind, outcome.isPositive, outcome.lsn, detail);
    table.keepAnswer(client, number, outcome.answer);
  }

  /**
   * The outcome in a record.
   *
   * @param detail as the kind says; 0 for one delete
   * @param answer empty if there is none
   */
  record Outcome(OutcomeKind kind, boolean isPositive, long lsn, long detail, ByteString answer) {}

  /** Gives up what the index has, which was dropped. */
  public void drop() {
    for (final OutcomeTable table : outcomes) {
      table.clear();
    }
    index.closeToReaders();
    index.drop();
  }

  /** LSN of a partition behind which the next one goes on. */
  public long last(int partition) {
    return last[partition];
  }
}
