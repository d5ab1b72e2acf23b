package dev.ringfetch.index.service;

import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.host.CatalogState;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.node.IndexCatalog;
import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.OrderedIndex;
import dev.ringfetch.index.store.StoreDamagedException;
import dev.ringfetch.index.store.StoreFullException;
import dev.ringfetch.index.store.StoredIndex;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import io.grpc.Status;
import io.grpc.StatusException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The catalog of a server alone: its indexes are all that there are, and the journal has those that
 * outlive the process.
 *
 * <p>Safe for use by many threads.
 */
final class LocalCatalog implements IndexCatalog {
  private final Indexes indexes;
  private final IndexMemory memory;
  private final ClientRegistry clients;

  LocalCatalog(Indexes indexes) {
    this.indexes = indexes;
    memory = indexes.memory();
    clients = indexes.clients();
  }

  @Override
  public void onRecovered() {
    if (memory.journal() != null) {
      clients.recover(memory.journal(), memory.journal().takeClients());
    }
    if (!indexes.has(ServedIndex.DEFAULT_NAME)) {
      createAbsent(ServedIndex.DEFAULT_NAME, IndexKind.HASH, memory.durability());
    }
    if (memory.journal() != null) {
      startSnapshots();
    }
  }

  /** The indexes that are in the journal now. */
  synchronized CatalogState state(IndexJournal journal) {
    return journal.catalog(indexes.all());
  }

  private void startSnapshots() {
    final IndexJournal journal = memory.journal();
    journal.startSnapshots(() -> state(journal), clients::walk, indexes.watches()::progress);
  }

  @Override
  public boolean isOfCluster() {
    return false;
  }

  @Override
  public void checkElsewhere(String name) {}

  @Override
  public void sync(Synced told) {
    told.onEnd(null);
  }

  @Override
  public void create(
      String name, IndexKind kind, Durability durability, int replicas, Created told) {
    try {
      final Creation creation = create(name, kind, durability);
      creation.index().whenRecorded(() -> end(creation.index(), creation.created(), told));
    } catch (StatusException e) {
      told.onEnd(0, false, e);
    }
  }

  @Override
  public void drop(String name, Created told) {
    try {
      if (!drop(name, dropped -> end(dropped, true, told))) {
        told.onEnd(0, false, null);
      }
    } catch (StatusException e) {
      told.onEnd(0, false, e);
    }
  }

  private void end(ServedIndex index, boolean done, Created told) {
    final boolean isUnknown =
        index.durability() != Durability.MEMORY && memory.statuses().isJournalFailed();
    told.onEnd(index.incarnation(), done, isUnknown ? Outcomes.unknown().asException() : null);
  }

  @Override
  public void recover(RecoverIndexRequest request, Recovered recovered) {
    recovered.onEnd(
        null,
        Status.FAILED_PRECONDITION
            .withDescription("the server belongs to no cluster")
            .asException());
  }

  @Override
  public List<String> addresses() {
    return List.of();
  }

  @Override
  public List<IndexDescription> ledElsewhere() {
    return List.of();
  }

  @Override
  public DescribeClusterResponse describe() {
    return DescribeClusterResponse.getDefaultInstance();
  }

  /**
   * The index of a name, and whether it was created.
   *
   * @param created whether there was none before.
   */
  record Creation(ServedIndex index, boolean created) {}

  /**
   * Creates the index of that name unless there is one. One thread at a time.
   *
   * @param kind HASH or ORDERED; if unspecified, one that is there may have any, and a new one is
   *     ORDERED.
   * @param durability of its writes; if unspecified, one that is there may have any, and a new one
   *     has the server's default.
   */
  synchronized Creation create(String name, IndexKind kind, Durability durability)
      throws StatusException {
    indexes.checkStarted();
    final ServedIndex found = indexes.find(name);
    if (found != null) {
      if (durability != Durability.DURABILITY_UNSPECIFIED && durability != found.durability()) {
        throw Status.ALREADY_EXISTS
            .withDescription(
                "the index has another durability: index="
                    + found.name()
                    + " durability="
                    + found.durability())
            .asException();
      }
      if (kind != IndexKind.INDEX_KIND_UNSPECIFIED && kind != found.kind()) {
        throw Status.ALREADY_EXISTS
            .withDescription(
                "the index is of another kind: index=" + found.name() + " kind=" + found.kind())
            .asException();
      }
      return new Creation(found, false);
    }
    if (indexes.all().size() >= ServedIndex.MAX_INDEXES) {
      throw Status.RESOURCE_EXHAUSTED
          .withDescription("too many indexes: limit=" + ServedIndex.MAX_INDEXES)
          .asException();
    }
    final Durability chosen =
        durability == Durability.DURABILITY_UNSPECIFIED ? memory.durability() : durability;
    if (chosen == Durability.LEADER_DISK) {
      throw Status.FAILED_PRECONDITION
          .withDescription("a server alone has the level DISK instead: durability=" + chosen)
          .asException();
    }
    if (chosen != Durability.MEMORY && !memory.hasSuccessors()) {
      throw Status.FAILED_PRECONDITION
          .withDescription("the server has no data directory: durability=" + chosen)
          .asException();
    }
    try {
      if (chosen != Durability.MEMORY) {
        createJournal();
        startSnapshots();
        checkWriting();
      }
      final ServedIndex created =
          createAbsent(name.isEmpty() ? ServedIndex.DEFAULT_NAME : name, kind, chosen);
      if (created == null) {
        throw memory.statuses().journalFull().asException();
      }
      return new Creation(created, true);
    } catch (IOException e) {
      throw Status.UNAVAILABLE
          .withDescription("cannot create the journal: " + e.getMessage())
          .withCause(e)
          .asException();
    } catch (StoreFullException e) {
      throw memory.statuses().memoryFull().asException();
    } catch (StoreDamagedException e) {
      throw Status.DATA_LOSS
          .withDescription("index memory was changed or taken away by another process; try again")
          .withCause(e)
          .asException();
    }
  }

  /** Creates the journal where there is none yet; the clients that there are come first. */
  private void createJournal() throws IOException, StatusException {
    memory.createJournal();
    if (!clients.hasLog()) {
      try {
        clients.record(memory.journal());
      } catch (ClientRegistry.LogFullException e) {
        throw memory.statuses().journalFull().withCause(e).asException();
      }
    }
  }

  /** Creates an index; returns null if the disk is full, and nothing was done. */
  private @Nullable ServedIndex createAbsent(String name, IndexKind kind, Durability durability) {
    final StoredIndex index =
        kind == IndexKind.HASH
            ? new HashIndex(memory.store(), memory.partitions())
            : new OrderedIndex(memory.store());
    final IndexDefinition definition =
        new IndexDefinition(
            kind == IndexKind.HASH ? IndexKind.HASH : IndexKind.ORDERED,
            durability,
            index.partitions(),
            index instanceof HashIndex hash ? hash.location().seed() : 0,
            memory.incarnation(index));
    final ServedIndex created =
        durability == Durability.MEMORY
            ? new ServedIndex(
                new CatalogEntry(0, name, definition),
                index,
                CompletableFuture.completedFuture(null),
                partition -> new ImmediateLog(0),
                indexes.writers())
            : record(name, definition, index);
    if (created != null) {
      indexes.lead(created);
    }
    return created;
  }

  private ServedIndex record(String name, IndexDefinition definition, StoredIndex index) {
    final IndexJournal journal = memory.journal();
    final CatalogEntry entry = new CatalogEntry(journal.nextNumber(), name, definition);
    final CompletableFuture<Void> recorded = journal.create(entry);
    if (recorded == null) {
      index.closeToReaders();
      index.drop();
      return null;
    }
    return new ServedIndex(
        entry, index, recorded, partition -> journal.log(entry, partition, 0), indexes.writers());
  }

  /**
   * Drops the index of that name.
   *
   * @param done is told the index when its memory is given back, on any thread; not if there is
   *     none.
   * @return whether there was one.
   */
  boolean drop(String name, Consumer<ServedIndex> done) throws StatusException {
    final ServedIndex dropped;
    final AtomicInteger open = new AtomicInteger(2); // the record, and the writers
    synchronized (this) {
      indexes.checkStarted();
      dropped = indexes.find(name);
      if (dropped == null) {
        return false;
      }
      final Runnable recorded = () -> dropped(open, dropped, done);
      if (dropped.durability() != Durability.MEMORY) {
        checkWriting();
      }
      if (dropped.durability() == Durability.MEMORY) {
        recorded.run();
      } else if (!memory.journal().drop(dropped.entry(), recorded)) {
        throw memory.statuses().journalFull().asException();
      }
      // First: what a call sees under this name later, no direct read may precede.
      dropped.closeToReaders();
      indexes.remove(dropped);
    }
    dropped.drop(() -> dropped(open, dropped, done));
    return true;
  }

  private void checkWriting() throws StatusException {
    if (memory.statuses().isJournalFailed()) {
      throw memory.statuses().stopped().asException();
    }
  }

  private static void dropped(AtomicInteger open, ServedIndex index, Consumer<ServedIndex> done) {
    if (open.decrementAndGet() == 0) {
      done.accept(index);
    }
  }
}
