package dev.ringfetch.index.replay;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.OutcomeDescriptor;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.OrderedIndex;
import dev.ringfetch.index.store.SpatialIndex;
import dev.ringfetch.index.store.StoreDamagedException;
import dev.ringfetch.index.store.StoreFullException;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.store.StoredIndex;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The replay of a group's records: carries them out, in a store of their own. No reader may be let
 * in meanwhile. The store is complete after {@link #onEnd}.
 *
 * <p>Used by one thread at a time.
 */
public final class JournalReplay implements RecordSink {
  private final StoreMemory memory;
  private final OutcomeBudget budget;

  private @Nullable ReplayLanes lanes; // null: each record is carried out at once
  private RecoveredIndex index; // null before it is created

  /** Concurrent, as walks over it go on while clients come and go. */
  private final Map<Long, NumberedClient> clients = new ConcurrentHashMap<>();

  /** Creates a replay that carries out each record at once, on the calling thread. */
  public static JournalReplay atOnce(StoreMemory memory, OutcomeBudget budget) {
    return new JournalReplay(memory, budget, null);
  }

  /** Creates a replay on the calling thread alone. */
  public JournalReplay(StoreMemory memory, OutcomeBudget budget) {
    this(memory, budget, new ReplayLanes(Runnable::run, 1));
  }

  /**
   * Creates a replay.
   *
   * @param lanes through which records get into stores; if they are closed, or null, each record is
   *     carried out at once
   */
  public JournalReplay(StoreMemory memory, OutcomeBudget budget, @Nullable ReplayLanes lanes) {
    this.memory = memory;
    this.budget = budget;
    this.lanes = lanes == null || !lanes.isOpen() ? null : lanes;
  }

  /** The clients that there are after the last record. */
  public Collection<NumberedClient> clients() {
    return clients.values();
  }

  @Override
  public void onRecord(JournalRecord record, Supplier<String> place) throws IOException {
    try {
      carryOut(record, place);
    } catch (StoreFullException | StoreDamagedException e) {
      throw failed(e);
    }
  }

  @Override
  public void onSnapshotRecord(JournalRecord record, Supplier<String> place) throws IOException {
    try {
      restore(record, place);
    } catch (StoreFullException | StoreDamagedException e) {
      throw failed(e);
    }
  }

  @Override
  public void onEnd() throws IOException {
    try {
      drain();
    } catch (StoreFullException | StoreDamagedException e) {
      throw failed(e);
    }
  }

  /** Waits until all records are carried out, and carries out each later one at once. */
  public void endLanes() throws IOException {
    onEnd();
    lanes = null;
  }

  private void drain() throws IOException {
    if (lanes != null) {
      lanes.drain();
      for (int i = 0; index != null && i < index.index().partitions(); i++) {
        lanes.check(index.index().partition(i));
      }
    }
  }

  /** Whether records that follow are carried out at once. */
  public boolean isAtOnce() {
    return lanes == null;
  }

  /** Waits until nothing changes the stores any more, whatever has failed. */
  public void settle() throws IOException {
    if (lanes != null) {
      lanes.drain();
    }
  }

  private void add(EntryStore store, JournalRecord record, boolean sorts) throws IOException {
    if (lanes == null) {
      EntryReplay.apply(store, record);
    } else {
      lanes.add(store, record, sorts);
    }
  }

  private IOException failed(RuntimeException cause) {
    if (cause instanceof StoreFullException) {
      return new MemoryTooSmallException(cause);
    }
    MemoryFaults.absorb(memory::verify, cause); // it may be of a page that is gone
    return new IOException("index memory was changed or taken away by another process", cause);
  }

  private void restore(JournalRecord record, Supplier<String> place) throws IOException {
    switch (record.type()) {
      case RecordDescriptor.PARTITION -> {
        if (!index.begin(record.partition(), record.lsn())) {
          throw new IOException("not a partition that can be: " + place.get() + " " + record);
        }
        index.restored(record.partition()).expiry().advance(record.number());
      }
      case RecordDescriptor.PUT -> {
        final EntryStore store = index.restored(record.partition());
        if (store == null) {
          throw new IOException("not an entry that can be: " + place.get() + " " + record);
        }
        add(store, record, false);
      }
      case RecordDescriptor.OUTCOME -> {
        final OutcomeKind kind = OutcomeDescriptor.kind(record.value());
        if (index.restored(record.partition()) == null || kind == null) {
          throw new IOException("not an outcome that can be: " + place.get() + " " + record);
        }
        index.keep(
            record.partition(),
            client(record.client()), // it may have come behind the begin of the snapshot
            record.request(),
            outcome(record));
      }
      case RecordDescriptor.OPEN_CLIENT -> client(record.client()).complete(record.request());
      default -> throw unknown(record, place);
    }
  }

  private NumberedClient client(long id) {
    NumberedClient client = clients.get(id);
    if (client == null) {
      client = new NumberedClient(id, 1);
      clients.put(id, client);
    }
    return client;
  }

  private static IOException unknown(JournalRecord record, Supplier<String> place) {
    return new IOException(
        "unknown, of a newer version: " + place.get() + " type=" + record.type());
  }

  private void carryOut(JournalRecord record, Supplier<String> place) throws IOException {
    switch (record.type()) {
      case RecordDescriptor.PUT,
          RecordDescriptor.DELETE,
          RecordDescriptor.TICK,
          RecordDescriptor.OUTCOME,
          RecordDescriptor.GAP,
          RecordDescriptor.TRANSACTION ->
          apply(record, place);
      case RecordDescriptor.OPEN_CLIENT -> client(record.client()).complete(record.request());
      case RecordDescriptor.CLOSE_CLIENT -> close(record.client());
      default -> throw unknown(record, place);
    }
  }

  /** Creates the index, empty. Called once, before the first record. */
  public RecoveredIndex create(CatalogEntry entry) {
    index = new RecoveredIndex(entry, create(entry.definition()), budget);
    return index;
  }

  private StoredIndex create(IndexDefinition definition) {
    return switch (definition.kind()) {
      case HASH -> new HashIndex(memory, definition.partitions(), definition.seed());
      case SPATIAL -> new SpatialIndex(memory, definition.partitions(), definition.seed());
      default -> new OrderedIndex(memory);
    };
  }

  private void close(long client) {
    final NumberedClient closed = clients.remove(client);
    if (closed != null) {
      closed.complete(Long.MAX_VALUE); // tables drop its outcomes
    }
  }

  private void apply(JournalRecord record, Supplier<String> place) throws IOException {
    final int partition = record.partition();
    if (index.has(partition, record.lsn())) {
      return; // the snapshot has its effect, or that of a later one
    }
    final EntryStore store = index.advance(partition, record.lsn());
    final List<JournalRecord> parts =
        record.type() == RecordDescriptor.TRANSACTION ? record.parts() : List.of(record);
    if (store == null || parts == null || !parts.stream().allMatch(JournalReplay::isPossible)) {
      throw new IOException(
          "not a record that can be: "
              + place.get()
              + " partition="
              + partition
              + " lsn="
              + record.lsn());
    }
    for (final JournalRecord part : parts) {
      apply(part, store);
    }
  }

  /** Carries out a record, or a part of one. */
  private void apply(JournalRecord record, EntryStore store) throws IOException {
    if (record.type() == RecordDescriptor.GAP) {
      return;
    }
    final NumberedClient client = record.client() == 0 ? null : clients.get(record.client());
    if (client != null) { // else it has none, or one that is closed
      index.keep(record.partition(), client, record.request(), outcome(record));
    }
    if (!isOutcome(record)) {
      add(store, record, index.index() instanceof OrderedIndex);
    }
  }

  private static boolean isPossible(JournalRecord record) {
    return !isOutcome(record) || OutcomeDescriptor.kind(record.value()) != null;
  }

  private static boolean isOutcome(JournalRecord record) {
    return record.type() == RecordDescriptor.OUTCOME;
  }

  private static RecoveredIndex.Outcome outcome(JournalRecord record) {
    final boolean isPositive = (record.flags() & RecordDescriptor.POSITIVE) != 0;
    OutcomeKind kind = OutcomeKind.WRITTEN;
    long detail = 0;
    ByteString answer = ByteString.EMPTY;
    if (isOutcome(record)) {
      final ByteString value = record.value();
      kind = OutcomeDescriptor.kind(value);
      detail = OutcomeDescriptor.detail(value);
      answer = OutcomeDescriptor.answer(value);
    } else if (record.type() == RecordDescriptor.DELETE) {
      kind = OutcomeKind.DELETED;
    } else if (CounterDescriptor.isCounter(record.valueView())) {
      // Records do not tell increments from puts, so a put of 8 bytes gets a detail, too.
      detail = CounterDescriptor.number(record.valueView());
    }
    return new RecoveredIndex.Outcome(kind, isPositive, record.lsn(), detail, answer);
  }
}
