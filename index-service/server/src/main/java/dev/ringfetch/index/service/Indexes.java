package dev.ringfetch.index.service;

import dev.ringfetch.index.call.WatchCalls;
import dev.ringfetch.index.host.ExpiredMeanwhile;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.node.IndexCatalog;
import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.partition.OwnerContext;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
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
import org.jspecify.annotations.Nullable;

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

  private final LocalCatalog local;
  private volatile CallMetrics callMetrics = CallMetrics.NONE;
  private volatile IndexCatalog catalog; // the local one, unless the server has joined a cluster

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
    local = new LocalCatalog(this);
    catalog = local;
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
    catalog.onRecovered();
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
  void join(IndexCatalog of) {
    catalog = of;
  }

  /** The catalog of all indexes that calls to this server may name. */
  IndexCatalog catalog() {
    return catalog;
  }

  /** The catalog of the server alone, which counts unless it has joined a cluster. */
  LocalCatalog local() {
    return local;
  }

  /** The common context of the owners of partitions. */
  OwnerContext writers() {
    return writers;
  }

  /** Lets calls for an index come that this server leads from now on. */
  void lead(ServedIndex index) {
    indexes.put(index.name(), index);
  }

  /** Lets no call for an index come any more. */
  void remove(ServedIndex index) {
    indexes.remove(index.name(), index);
  }

  /** Ends an index that this node leads no more; gives its memory back. */
  void follow(ServedIndex index) {
    index.closeToReaders();
    remove(index);
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

  private void recover() {
    final IndexJournal journal = memory.journal();
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

  /** Sets the receiver of the durations of calls, before services over these indexes are bound. */
  void callMetrics(CallMetrics metrics) {
    callMetrics = metrics;
  }

  CallMetrics callMetrics() {
    return callMetrics;
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
  @Nullable ServedIndex find(String name) {
    return started ? indexes.get(name.isEmpty() ? DEFAULT_NAME : name) : null;
  }

  /** Whether there is an index of that name, also before calls find it. */
  boolean has(String name) {
    return indexes.containsKey(name);
  }

  /** All indexes, in the order of their names. */
  Collection<ServedIndex> all() {
    return new TreeMap<>(indexes).values();
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
  IndexDescription describeElsewhere(String name, @Nullable IndexDefinition definition) {
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
