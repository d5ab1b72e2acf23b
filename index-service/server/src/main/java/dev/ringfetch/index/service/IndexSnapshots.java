package dev.ringfetch.index.service;

import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.SnapshotSink;
import dev.ringfetch.index.journal.SnapshotSource;
import dev.ringfetch.index.outcome.KeptOutcome;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.store.EntryWalk;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What a snapshot is made of in a server: its indexes that are in the journal, partition after
 * partition. The owner of each takes a barrier, and then a walk in steps, as two kinds of {@link
 * Write}: so a walk sees the store between two writes, and writers wait for one step at most.
 *
 * <p>Used by one thread at a time.
 */
final class IndexSnapshots implements SnapshotSource {
  /** A write that the owner of a partition was asked for. */
  private static final class Asked {
    private final Write write;
    private volatile boolean answered;

    Asked(Runnable wake) {
      write =
          new Write(
              answer -> {
                answered = true;
                wake.run();
              });
    }
  }

  /** An LSN up to which a log has to be durable. */
  private record Needed(CommitLog log, long lsn) {}

  private final Journal journal;
  private final Supplier<CatalogState> catalog;
  private final Consumer<Consumer<NumberedClient>> clients;
  private final Runnable wake;
  private final Runnable removing;

  private CatalogState state;
  private int created;
  private int number;
  private int partition;

  /** Of the present partition; null before its barrier was answered. */
  private EntryWalk walk;

  /** Null if nothing is asked. */
  private Asked asked;

  private final List<Needed> needed = new ArrayList<>();
  private long neededCatalogLsn;

  /**
   * Creates the source.
   *
   * @param catalog gives the state of the catalog
   * @param clients passes all clients that have numbers
   * @param wake is run when an owner has answered, on any thread
   * @param removing is run before segments of the journal are removed
   */
  IndexSnapshots(
      Journal journal,
      Supplier<CatalogState> catalog,
      Consumer<Consumer<NumberedClient>> clients,
      Runnable wake,
      Runnable removing) {
    this.journal = journal;
    this.catalog = catalog;
    this.clients = clients;
    this.wake = wake;
    this.removing = removing;
  }

  @Override
  public void begin() {
    state = catalog.get();
    created = 0;
    number = 0;
    partition = 0;
    walk = null;
    asked = null;
    needed.clear();
    neededCatalogLsn = Long.MAX_VALUE;
  }

  @Override
  public Progress add(SnapshotSink sink) throws IOException {
    if (created < state.indexes().size()) {
      final CatalogEntry entry = state.indexes().get(created++).entry();
      sink.create(entry.number(), entry.name(), entry.definition());
      return Progress.MORE;
    }
    if (number == state.indexes().size()) {
      // After all outcomes: one that was not kept any more is below what its client says now.
      addClients(sink);
      // After all walks: an index that ended one has its removal before this.
      neededCatalogLsn = journal.catalogLsn();
      return Progress.DONE;
    }
    return addOf(state.indexes().get(number), sink);
  }

  private void addClients(SnapshotSink sink) throws IOException {
    final List<NumberedClient> known = new ArrayList<>();
    clients.accept(known::add);
    for (final NumberedClient client : known) {
      sink.client(client.id(), client.firstIncomplete());
    }
  }

  private Progress addOf(ServedIndex index, SnapshotSink sink) throws IOException {
    if (asked == null) {
      return ask(index);
    }
    if (!asked.answered) {
      return Progress.WAITING;
    }
    final Write answer = asked.write;
    asked = null;
    if (answer.outcome() != Write.DONE) {
      end(index);
    } else if (walk == null) {
      sink.partition(index.entry().number(), partition, answer.version(), answer.clock());
      for (final KeptOutcome outcome : answer.outcomes()) {
        sink.outcome(index.entry().number(), partition, outcome);
      }
      walk = new EntryWalk();
    } else {
      for (final Entry entry : walk.entries()) {
        sink.put(index.entry().number(), partition, entry);
      }
      walk.clear();
      if (walk.isDone()) {
        endPartition(index);
      }
    }
    return Progress.MORE;
  }

  private Progress ask(ServedIndex index) {
    final Asked next = new Asked(wake);
    if (walk == null) {
      next.write.barrier();
    } else {
      next.write.walk(walk);
    }
    if (index.partition(partition).submit(next.write) != 0) {
      return Progress.WAITING; // its queue is full
    }
    asked = next;
    return Progress.MORE;
  }

  /** Notes how far the log has to be durable: what the walk has met, removals included, is. */
  private void endPartition(ServedIndex index) {
    final CommitLog log = index.log(partition);
    needed.add(new Needed(log, log.committed()));
    walk = null;
    partition++;
    if (partition == index.partitions()) {
      partition = 0;
      number++;
    }
  }

  /** Leaves an index out, or the rest of it, that was dropped. */
  private void end(ServedIndex index) throws IOException {
    if (!index.isDropped()) {
      throw new IOException(
          index.isRefused()
              ? "an index is damaged in memory; drop it, or start again: index=" + index.name()
              : "an index takes no writes: index=" + index.name());
    }
    walk = null;
    partition = 0;
    number++;
  }

  @Override
  public boolean isDurable() {
    needed.removeIf(need -> need.log().durable() >= need.lsn());
    return needed.isEmpty() && journal.durableCatalogLsn() >= neededCatalogLsn;
  }

  @Override
  public long catalogLsn() {
    return state.lsn();
  }

  @Override
  public long newestIndex() {
    return state.newest();
  }

  @Override
  public void removing() {
    removing.run();
  }
}
