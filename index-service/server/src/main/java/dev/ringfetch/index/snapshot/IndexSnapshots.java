package dev.ringfetch.index.snapshot;

import dev.ringfetch.index.host.CatalogState;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.SnapshotSink;
import dev.ringfetch.index.journal.SnapshotSource;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.partition.CommitLog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;

/**
 * The source of a server's snapshots: its indexes in the journal, one after the other.
 *
 * <p>Used by one thread at a time.
 */
public final class IndexSnapshots implements SnapshotSource {
  /** Clients of a step: about 16 KiB of records. */
  private static final int STEP_CLIENTS = 256;

  /** An LSN up to which a log has to be durable. */
  private record Needed(CommitLog log, long lsn) {}

  private final Journal journal;
  private final Supplier<CatalogState> catalog;
  private final Supplier<Iterator<NumberedClient>> clients;
  private final Runnable wake;
  private final Runnable removing;

  private CatalogState state;
  private int created;
  private int number;

  /** Of the present index; null before it begins. */
  private IndexWalk walk;

  /** Null before all indexes are there. */
  private Iterator<NumberedClient> client;

  private final List<Needed> needed = new ArrayList<>();
  private long neededCatalogLsn;

  /**
   * Creates the source.
   *
   * @param catalog gives the state of the catalog
   * @param clients begins a walk over all clients that have numbers
   * @param wake is run when an owner has answered, on any thread
   * @param removing is run before segments of the journal are removed
   */
  public IndexSnapshots(
      Journal journal,
      Supplier<CatalogState> catalog,
      Supplier<Iterator<NumberedClient>> clients,
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
    walk = null;
    client = null;
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
      if (addClients(sink)) {
        return Progress.MORE;
      }
      // After all walks: an index that ended one has its removal before this.
      neededCatalogLsn = journal.catalogLsn();
      return Progress.DONE;
    }
    return addOf(state.indexes().get(number), sink);
  }

  /** Adds some clients; returns whether there may be more. */
  private boolean addClients(SnapshotSink sink) throws IOException {
    if (client == null) {
      client = clients.get(); // after all outcomes: one that was not kept is below what it says now
    }
    for (int i = 0; i < STEP_CLIENTS && client.hasNext(); i++) {
      final NumberedClient next = client.next();
      sink.client(next.id(), next.firstIncomplete());
    }
    return client.hasNext();
  }

  private Progress addOf(ServedIndex index, SnapshotSink sink) throws IOException {
    if (walk == null) {
      walk = new IndexWalk(index, index.entry().number(), wake);
    }
    final int partition = walk.partition();
    final IndexWalk.Step step = walk.step(sink);
    if (walk.partition() != partition) {
      // All records that the walk has met, removals included, have to be durable.
      final CommitLog log = index.log(partition);
      needed.add(new Needed(log, log.committed()));
    }
    switch (step) {
      case MORE -> {}
      case WAITING -> {
        return Progress.WAITING;
      }
      case DONE -> endIndex();
      case ENDED -> {
        if (!index.isDropped()) {
          throw new IOException(
              index.isRefused()
                  ? "an index is damaged in memory; drop it, or start again: index=" + index.name()
                  : "an index takes no writes: index=" + index.name());
        }
        endIndex(); // it is left out, or the rest of it
      }
    }
    return Progress.MORE;
  }

  private void endIndex() {
    walk = null;
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
