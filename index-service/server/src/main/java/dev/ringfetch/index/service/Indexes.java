package dev.ringfetch.index.service;

import dev.ringfetch.index.call.WatchCalls;
import dev.ringfetch.index.host.CatalogState;
import dev.ringfetch.index.host.ExpiredMeanwhile;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.node.LeaderDirectory;
import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.partition.OwnerContext;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.OrderedIndex;
import dev.ringfetch.index.store.StoreDamagedException;
import dev.ringfetch.index.store.StoreFullException;
import dev.ringfetch.index.store.StoredIndex;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusException;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The indexes of a server, by name. The one called {@value #DEFAULT_NAME} is there from the start,
 * and is a HASH index; the empty name stands for it. An index stays until it is dropped, even
 * without entries.
 *
 * <p>Safe for use by many threads; finding takes no lock. Indexes in memory of this process,
 * without a data directory, need not be closed.
 */
public final class Indexes implements AutoCloseable {
  /** Name of the index that the empty name stands for. */
  public static final String DEFAULT_NAME = ServedIndex.DEFAULT_NAME;

  /** The most indexes that there can be, the default one included. */
  public static final int MAX_INDEXES = ServedIndex.MAX_INDEXES;

  private static final System.Logger LOGGER = System.getLogger(Indexes.class.getName());

  private final IndexMemory memory;
  private final OwnerContext writers;
  private final WatchCalls watches;
  private final ClientRegistry clients;
  private final ConcurrentHashMap<String, ServedIndex> indexes = new ConcurrentHashMap<>();

  /** Of the Index services over these indexes. */
  private final Set<ServerCallHandler<?, ?>> handlers = ConcurrentHashMap.newKeySet();

  /** Of the cluster that the server belongs to; null if it belongs to none. */
  private volatile LeaderDirectory directory;

  /** False until the indexes of the journal are there: no call is answered before. */
  private volatile boolean started;

  /** Creates the default index, empty, in memory of this process. */
  public Indexes() {
    this(IndexMemory.ofProcess(IndexMemory.BUDGET_DEFAULT));
  }

  /**
   * Creates the default index, empty, in this memory, which becomes the indexes' own, and serves.
   * If this throws, the memory is closed.
   *
   * @throws IllegalArgumentException when another process has moved the gate of the data directory.
   */
  public Indexes(IndexMemory memory) {
    this(memory, new ClientRegistry(), Start.SERVING);
  }

  /**
   * As above.
   *
   * @param clients that have numbers: none, before.
   */
  Indexes(IndexMemory memory, ClientRegistry clients, boolean serves) {
    this(memory, clients, serves ? Start.SERVING : Start.RECOVERED);
  }

  private enum Start {
    /** The memory is recovered, and readers may begin. */
    SERVING,
    /** The memory is recovered. */
    RECOVERED,
    LATER
  }

  private Indexes(IndexMemory memory, ClientRegistry clients, Start start) {
    this.memory = memory;
    this.clients = clients;
    writers =
        new OwnerContext(
            Indexes::onError,
            memory.handover(),
            memory.time(),
            partition -> new OutcomeTable(memory.outcomes()));
    watches =
        new WatchCalls(
            memory.statuses(),
            () -> memory.journal().reader(),
            memory.watcher(),
            memory.historian());
    if (start == Start.LATER) {
      return;
    }
    boolean created = false;
    try {
      fill();
      started = true;
      if (start == Start.SERVING) {
        serve();
      }
      created = true;
    } finally {
      if (!created) {
        memory.close();
      }
    }
  }

  /** Serves the recovered indexes, and creates the default one if it is not among them. */
  private void fill() {
    recover();
    if (directory == null && !indexes.containsKey(DEFAULT_NAME)) {
      createAbsent(DEFAULT_NAME, IndexKind.HASH, memory.durability());
    }
    if (memory.journal() != null && directory == null) {
      startSnapshots();
    }
  }

  /**
   * Takes memory that was opened {@linkplain IndexMemory#unrecovered unrecovered}, which becomes
   * the indexes' own. Until {@link #recoverAndServe} has returned, calls end UNAVAILABLE.
   */
  public static Indexes unrecovered(IndexMemory memory) {
    return new Indexes(memory, new ClientRegistry(), Start.LATER);
  }

  /**
   * Begins to read the journal, if the data directory has one, on a thread of its own, beside what
   * the caller does until {@link #recoverAndServe}. Called at most once, after {@link
   * #unrecovered}.
   */
  public void beginRecovery() {
    memory.beginRecovery();
  }

  /**
   * Reads the journal, if the data directory has one, turns the readers of earlier servers away,
   * and lets calls and readers begin. Called once, after {@link #unrecovered}; what it throws
   * leaves the indexes to be closed.
   *
   * @throws IOException if the disk fails, the journal is damaged, or the memory is too small.
   * @throws IllegalArgumentException when another process has moved the gate of the data directory.
   */
  public void recoverAndServe() throws IOException {
    memory.recover();
    fill();
    serve();
    started = true;
  }

  /** The limit of index memory, and where it comes from. */
  public HostMemory.Budget budget() {
    return memory.budget();
  }

  /** Makes these the indexes of a cluster's node, before {@link #recoverAndServe}. */
  void join(LeaderDirectory of) {
    directory = of;
  }

  /** Where a cluster's indexes are led; null if the server belongs to none. */
  LeaderDirectory directory() {
    return directory;
  }

  /** The common context of the owners of partitions. */
  OwnerContext writers() {
    return writers;
  }

  /** Lets calls for an index come that this node leads from now on. */
  void lead(ServedIndex index) {
    indexes.put(index.name(), index);
  }

  /** Ends an index that this node leads no more; gives its memory back. */
  void follow(ServedIndex index) {
    index.closeToReaders();
    indexes.remove(index.name(), index);
    index.drop(() -> {});
  }

  /** Refuses calls as long as the journal is read. */
  void checkStarted() throws StatusException {
    if (!started) {
      throw Status.UNAVAILABLE
          .withDescription("recovering: the server reads its journal; try again")
          .asException();
    }
  }

  /** The indexes that are in the journal now. */
  synchronized CatalogState catalog(IndexJournal journal) {
    return journal.catalog(indexes.values());
  }

  private void startSnapshots() {
    final IndexJournal journal = memory.journal();
    journal.startSnapshots(() -> catalog(journal), clients::walk, watches::progress);
  }

  private void recover() {
    final IndexJournal journal = memory.journal();
    if (journal != null && directory == null) {
      clients.recover(journal, journal.takeClients());
    }
    for (final RecoveredIndex recovered :
        journal == null ? List.<RecoveredIndex>of() : journal.takeRecovered()) {
      final CatalogEntry entry = recovered.entry();
      indexes.put(
          entry.name(),
          new ServedIndex(
              entry,
              recovered.index(),
              CompletableFuture.completedFuture(null),
              partition -> journal.log(entry, partition, recovered.last(partition)),
              writers.with(recovered::outcomes)));
    }
  }

  /**
   * Creates the default index, empty, in this memory, which becomes the indexes' own. No call may
   * come before {@link #serve}, nor does a reader of an earlier server notice anything.
   */
  public static Indexes unserved(IndexMemory memory) {
    return new Indexes(memory, new ClientRegistry(), Start.RECOVERED);
  }

  /**
   * Turns the readers of earlier servers away, and lets readers begin. Entries whose deadlines have
   * come while no server ran are absent from then on. Called once.
   */
  public void serve() {
    new ExpiredMeanwhile(all()).await();
    memory.serve();
  }

  /** The calls that watch these indexes. */
  WatchCalls watches() {
    return watches;
  }

  /**
   * Ends all watches with UNAVAILABLE, and refuses later ones. To be called before the server is
   * shut down in order, which waits for the calls that are under way. Idempotent.
   */
  public void endWatches() {
    watches.end();
  }

  IndexMemory memory() {
    return memory;
  }

  /** The clients that have numbers. */
  ClientRegistry clients() {
    return clients;
  }

  /** Notes the handlers of an Index service over these indexes, as it was bound. */
  void bound(ServerServiceDefinition service) {
    for (final ServerMethodDefinition<?, ?> method : service.getMethods()) {
      handlers.add(method.getServerCallHandler());
    }
  }

  /**
   * Whether calls to the Index service among these services go straight to one over these indexes:
   * an interceptor or another service around it has handlers of its own.
   */
  boolean areServedPlainly(List<ServerServiceDefinition> services) {
    boolean found = false;
    for (final ServerServiceDefinition service : services) {
      if (service.getServiceDescriptor().getName().equals(IndexGrpc.SERVICE_NAME)) {
        found = true;
        for (final ServerMethodDefinition<?, ?> method : service.getMethods()) {
          if (!handlers.contains(method.getServerCallHandler())) {
            return false;
          }
        }
      }
    }
    return found;
  }

  /**
   * Returns the index of that name, or null if there is none, or none {@link #checkStarted yet}.
   */
  ServedIndex find(String name) {
    return started ? indexes.get(name.isEmpty() ? DEFAULT_NAME : name) : null;
  }

  /** All indexes, in the order of their names. */
  Collection<ServedIndex> all() {
    return new TreeMap<>(indexes).values();
  }

  /**
   * Returns the index of that name, which is created, as an ORDERED one, if there is none. In a
   * cluster that takes a moment, in which the call ends UNAVAILABLE.
   */
  ServedIndex findOrCreate(String name) throws StatusException {
    final ServedIndex found = find(name);
    if (found == null && directory != null) {
      directory.createForWrite(name);
      throw Status.UNAVAILABLE
          .withDescription("the index is created now; send again: index=" + name)
          .asException();
    }
    return found != null
        ? found
        : create(name, IndexKind.INDEX_KIND_UNSPECIFIED, Durability.DURABILITY_UNSPECIFIED).index();
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
    checkStarted();
    final ServedIndex found = find(name);
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
    if (indexes.size() >= MAX_INDEXES) {
      throw Status.RESOURCE_EXHAUSTED
          .withDescription("too many indexes: limit=" + MAX_INDEXES)
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
      final ServedIndex created = createAbsent(name.isEmpty() ? DEFAULT_NAME : name, kind, chosen);
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
  private ServedIndex createAbsent(String name, IndexKind kind, Durability durability) {
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
                writers)
            : record(name, definition, index);
    if (created != null) {
      indexes.put(name, created);
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
        entry, index, recorded, partition -> journal.log(entry, partition, 0), writers);
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
      checkStarted();
      dropped = find(name);
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
      indexes.remove(dropped.name());
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

  /** Describes an index. */
  IndexDescription describe(ServedIndex index) {
    return IndexDescription.newBuilder()
        .setName(index.name())
        .setKind(index.kind())
        .setIncarnation(index.incarnation())
        .setPartitions(index.partitions())
        .setEntries(index.count())
        .setMemoryUsed(memory.store().usedBytes())
        .setMemoryLimit(memory.store().budget())
        .setDurability(index.durability())
        .build();
  }

  /**
   * Describes an index that another node leads.
   *
   * @param definition null if this version does not know it
   */
  IndexDescription describeElsewhere(String name, IndexDefinition definition) {
    if (definition == null) {
      return IndexDescription.newBuilder().setName(name).setLedElsewhere(true).build();
    }
    return IndexDescription.newBuilder()
        .setName(name)
        .setKind(definition.kind())
        .setIncarnation(definition.incarnation())
        .setPartitions(definition.partitions())
        .setMemoryUsed(memory.store().usedBytes())
        .setMemoryLimit(memory.store().budget())
        .setDurability(definition.durability())
        .setLedElsewhere(true)
        .build();
  }

  /**
   * Closes the memory, and with it all indexes. Direct readers turn away. No call may be under way
   * any more. To be called once.
   */
  @Override
  public void close() {
    memory.close();
  }

  private static void onError(Throwable failure) {
    LOGGER.log(System.Logger.Level.ERROR, "a partition's writer has failed", failure);
  }
}
