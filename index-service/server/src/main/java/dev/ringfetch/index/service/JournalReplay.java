package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.OutcomeDescriptor;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.journal.SnapshotDescriptor;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.OrderedIndex;
import dev.ringfetch.index.store.StoreDamagedException;
import dev.ringfetch.index.store.StoreFullException;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.store.StoredIndex;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The indexes that the records of a journal say there are: carries the records out, in stores of
 * their own. No reader may be let in meanwhile.
 *
 * <p>Used by one thread at a time.
 */
final class JournalReplay implements RecordSink {
  /**
   * What a record says of an entry, or of the clock; and the request that it comes from.
   *
   * @param time the deadline of a put, 0 if it has none; the time of a tick
   */
  private record Change(
      int partition,
      long lsn,
      int type,
      ByteString key,
      ByteString value,
      long time,
      Request request,
      Supplier<String> place) {}

  /** Where a record comes from; the client is null if it has none, or one that is closed. */
  private record Request(NumberedClient client, long packed, boolean isPositive) {}

  private static final Request NO_REQUEST = new Request(null, 0, false);

  private final StoreMemory memory;
  private final OutcomeBudget budget;
  private final Map<Long, RecoveredIndex> indexes = new TreeMap<>();
  private final Map<Long, NumberedClient> clients = new HashMap<>();

  /**
   * Records that came before the creation of their index, which stands behind them and is synced
   * with them, or was lost; by the number of the index.
   */
  private final Map<Long, List<Change>> early = new HashMap<>();

  private long newest;
  private long records;

  /** LSN up to which the catalog's records are in the snapshot; 0 without one. */
  private long catalogBegin;

  JournalReplay(StoreMemory memory, OutcomeBudget budget) {
    this.memory = memory;
    this.budget = budget;
  }

  /** The clients that there are after the last record. */
  Collection<NumberedClient> clients() {
    return clients.values();
  }

  /** The indexes that there are after the last record. */
  Collection<RecoveredIndex> indexes() {
    return indexes.values();
  }

  /** The largest number of an index so far, also of one whose creation was lost. */
  long newest() {
    return Math.max(newest, early.keySet().stream().mapToLong(number -> number).max().orElse(0));
  }

  /** Number of records. */
  long records() {
    return records;
  }

  @Override
  public void onRecord(JournalRecord record, Supplier<String> place) throws IOException {
    read(
        () -> {
          if (!isInSnapshot(record)) {
            carryOut(record, place);
          }
        });
  }

  @Override
  public void onSnapshotRecord(JournalRecord record, Supplier<String> place) throws IOException {
    read(() -> restore(record, place));
  }

  /** What is done for one record. */
  @FunctionalInterface
  private interface Step {
    void run() throws IOException;
  }

  private void read(Step step) throws IOException {
    records++;
    try {
      step.run();
    } catch (StoreFullException e) {
      throw full(e);
    } catch (StoreDamagedException e) {
      throw new IOException("index memory was changed or taken away by another process", e);
    }
  }

  /** Whether a record of the catalog is one that the snapshot has the effect of. */
  private boolean isInSnapshot(JournalRecord record) {
    return record.type() >= RecordDescriptor.CREATE_INDEX && record.lsn() <= catalogBegin;
  }

  private void restore(JournalRecord record, Supplier<String> place) throws IOException {
    final RecoveredIndex index = indexes.get(record.index());
    switch (record.type()) {
      case RecordDescriptor.CREATE_INDEX -> create(record, place);
      case RecordDescriptor.PARTITION -> {
        if (index == null || !index.begin(record.partition(), record.lsn())) {
          throw new IOException("not a partition that can be: " + place.get() + " " + record);
        }
        index.restored(record.partition()).expiry().advance(record.number());
      }
      case RecordDescriptor.PUT -> {
        final EntryStore store = index == null ? null : index.restored(record.partition());
        if (store == null) {
          throw new IOException("not an entry that can be: " + place.get() + " " + record);
        }
        apply(
            store,
            new Change(
                record.partition(),
                record.lsn(),
                record.type(),
                record.key(),
                record.value(),
                record.deadline(),
                NO_REQUEST,
                place));
      }
      case RecordDescriptor.OUTCOME -> {
        final OutcomeKind kind = OutcomeDescriptor.kind(record.value());
        if (index == null || index.restored(record.partition()) == null || kind == null) {
          throw new IOException("not an outcome that can be: " + place.get() + " " + record);
        }
        index.keep(
            record.partition(),
            client(record.client()), // it may have come behind the begin of the snapshot
            record.request(),
            new RecoveredIndex.Outcome(
                kind,
                (record.flags() & RecordDescriptor.POSITIVE) != 0,
                record.lsn(),
                OutcomeDescriptor.detail(record.value())));
      }
      case RecordDescriptor.OPEN_CLIENT -> client(record.client()).complete(record.request());
      case RecordDescriptor.SNAPSHOT_END -> {
        newest = Math.max(newest, SnapshotDescriptor.newestIndex(record));
        catalogBegin = record.lsn();
      }
      default ->
          throw new IOException(
              "unknown, of a newer version: " + place.get() + " type=" + record.type());
    }
  }

  /** Gives all indexes other incarnations, and skips: they are of a copy. */
  void restore(long salt) {
    indexes.values().forEach(index -> index.restore(salt));
    skip();
  }

  /** Skips the LSNs of all partitions that may be lost. */
  void skip() {
    indexes.values().forEach(index -> index.skip(Journal.LOST_LIMIT));
  }

  private NumberedClient client(long id) {
    return clients.computeIfAbsent(id, unknown -> new NumberedClient(id, 1));
  }

  private static IOException full(Throwable cause) {
    return new IOException(
        "index memory is too small for what the journal has; give the server more (--memory, or"
            + " budget(bytes) in a program)",
        cause);
  }

  private void carryOut(JournalRecord record, Supplier<String> place) throws IOException {
    switch (record.type()) {
      case RecordDescriptor.SKIP -> skip();
      case RecordDescriptor.RESTORE -> restore(record.number());
      case RecordDescriptor.CREATE_INDEX -> create(record, place);
      case RecordDescriptor.DROP_INDEX -> drop(record.index());
      case RecordDescriptor.PUT,
          RecordDescriptor.DELETE,
          RecordDescriptor.TICK,
          RecordDescriptor.OUTCOME ->
          write(record, place);
      case RecordDescriptor.OPEN_CLIENT -> client(record.client()).complete(record.request());
      case RecordDescriptor.CLOSE_CLIENT -> close(record.client());
      default ->
          throw new IOException(
              "unknown, of a newer version: " + place.get() + " type=" + record.type());
    }
  }

  private void create(JournalRecord record, Supplier<String> place) throws IOException {
    final IndexDefinition definition = IndexDefinition.decoded(record.value());
    if (definition == null || record.index() <= newest) {
      throw new IOException(
          "not a creation that can be: " + place.get() + " index=" + record.index());
    }
    create(new CatalogEntry(record.index(), record.key().toStringUtf8(), definition));
    for (final Change change : early.getOrDefault(newest, List.of())) {
      apply(indexes.get(newest), change);
    }
    // Creations come in the order of their numbers: what is left of earlier ones was lost, with
    // the puts that came before, none of which was answered after a sync.
    early.keySet().removeIf(number -> number <= newest);
  }

  /** Creates an index, empty, whose number is larger than all before. */
  RecoveredIndex create(CatalogEntry entry) {
    newest = entry.number();
    final RecoveredIndex created =
        new RecoveredIndex(entry, create(entry.definition()), budget);
    indexes.put(newest, created);
    return created;
  }

  private StoredIndex create(IndexDefinition definition) {
    return definition.kind() == IndexKind.HASH
        ? new HashIndex(memory, definition.partitions(), definition.seed())
        : new OrderedIndex(memory);
  }

  private void drop(long index) {
    final RecoveredIndex dropped = indexes.remove(index);
    if (dropped != null) {
      dropped.drop();
    }
  }

  private void close(long client) {
    final NumberedClient closed = clients.remove(client);
    if (closed != null) {
      closed.complete(Long.MAX_VALUE); // tables drop its outcomes
    }
  }

  private void write(JournalRecord record, Supplier<String> place) throws IOException {
    final RecoveredIndex index = indexes.get(record.index());
    if (index == null && record.index() <= newest) {
      return; // it was dropped, and its writers ended a little later
    }
    final Change change =
        new Change(
            record.partition(),
            record.lsn(),
            record.type(),
            record.key(),
            record.value(),
            record.type() == RecordDescriptor.TICK ? record.number() : record.deadline(),
            new Request(
                clients.get(record.client()),
                record.request(),
                (record.flags() & RecordDescriptor.POSITIVE) != 0),
            place);
    if (index == null) {
      early.computeIfAbsent(record.index(), unused -> new ArrayList<>()).add(change);
    } else {
      apply(index, change);
    }
  }

  private static void apply(RecoveredIndex index, Change change) throws IOException {
    if (index.has(change.partition(), change.lsn())) {
      return; // the snapshot has its effect, or that of a later one
    }
    final EntryStore store = index.advance(change.partition(), change.lsn());
    final RecoveredIndex.Outcome outcome = outcome(change);
    if (store == null || outcome == null) {
      throw new IOException(
          "not a record that can be: "
              + change.place().get()
              + " partition="
              + change.partition()
              + " lsn="
              + change.lsn());
    }
    if (change.request().client() != null) {
      index.keep(change.partition(), change.request().client(), change.request().packed(), outcome);
    }
    if (change.type() != RecordDescriptor.OUTCOME) {
      apply(store, change);
    }
  }

  /** The outcome that a record has, or null if its value is none. */
  private static RecoveredIndex.Outcome outcome(Change change) {
    final boolean isPositive = change.request().isPositive();
    if (change.type() == RecordDescriptor.OUTCOME) {
      final OutcomeKind kind = OutcomeDescriptor.kind(change.value());
      if (kind == null) {
        return null;
      }
      final long detail = OutcomeDescriptor.detail(change.value());
      return new RecoveredIndex.Outcome(kind, isPositive, change.lsn(), detail);
    }
    final OutcomeKind kind =
        change.type() == RecordDescriptor.DELETE ? OutcomeKind.DELETED : OutcomeKind.WRITTEN;
    return new RecoveredIndex.Outcome(kind, isPositive, change.lsn(), 0);
  }

  /** Carries a change out unless the snapshot has a later one of the key. */
  private static void apply(EntryStore store, Change change) throws IOException {
    if (change.type() == RecordDescriptor.TICK) {
      store.expiry().advance(change.time());
      return;
    }
    // It also finds the place that the put takes.
    if (store.version(change.key()) >= change.lsn()) {
      return;
    }
    if (change.type() == RecordDescriptor.DELETE) {
      store.delete(change.key());
      return;
    }
    if (store.reserve(change.key().size(), change.value().size(), change.time() != 0) != 0) {
      throw full(null);
    }
    store.put(change.key(), change.value(), change.lsn(), change.time());
    store.grow();
  }
}
