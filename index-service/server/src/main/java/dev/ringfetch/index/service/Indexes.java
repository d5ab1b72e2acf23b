package dev.ringfetch.index.service;

import dev.ringfetch.index.call.WatchCalls;
import dev.ringfetch.index.host.ExpiredMeanwhile;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.node.IndexCatalog;
import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.partition.OwnerContext;
import dev.ringfetch.index.rights.Rights;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The indexes of a server, by name. The one called {@value #DEFAULT_NAME} is there from the start,
 * and is a HASH index; the empty name stands for it. An index stays until it is dropped, even
 * without entries.
 *
 * <p>Safe for use by many threads; finding takes no lock.
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
  private final ConcurrentHashMap<String, ServedIndex> indexes = new ConcurrentHashMap<>();

  /** Of the Index services over these indexes. */
  private final Set<ServerCallHandler<?, ?>> handlers = ConcurrentHashMap.newKeySet();

  private volatile CallMetrics callMetrics = CallMetrics.NONE;
  private volatile @Nullable Rights rights; // null: there are no users
  private final Supplier<ClientRegistry> clients;
  private @Nullable ClusterNode node; // null in tests that make up what a node does
  private volatile IndexCatalog catalog;

  /** False until the indexes of the journal are there: no call is answered before. */
  private volatile boolean started;

  /** Creates the default index, empty, in memory of this process. */
  public Indexes() {
    this(ClientRegistry::new, IndexMemory.ofProcess(IndexMemoryContext.BUDGET_DEFAULT));
    try {
      open();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // there is no disk
    }
  }

  /**
   * Recovers the indexes of this memory, which becomes the indexes' own, and serves. If this
   * throws, the memory is closed.
   *
   * @throws IOException if the disk fails, the journal is damaged, or the memory is too small
   * @throws IllegalArgumentException when another process has moved the gate of the data directory.
   */
  public Indexes(IndexMemory memory) throws IOException {
    this(memory, ClientRegistry::new);
  }

  /** As above, with what creates the registries of an index's clients. */
  Indexes(IndexMemory memory, Supplier<ClientRegistry> clients) throws IOException {
    this(clients, memory);
    open();
  }

  private Indexes(Supplier<ClientRegistry> clients, IndexMemory memory) {
    this.memory = memory;
    this.clients = clients;
    writers =
        new OwnerContext(
            Indexes::onError,
            memory.threads().handover(),
            memory.time(),
            partition -> new OutcomeTable(memory.outcomes()));
    watches =
        new WatchCalls(
            memory.statuses(),
            () -> memory.journal().reader(),
            memory.threads().watcher(),
            memory.threads().historian());
  }

  private void open() throws IOException {
    boolean opened = false;
    try {
      ClusterNode.alone(this);
      recoverAndServe();
      opened = true;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  /**
   * Takes memory, which becomes the indexes' own, for a {@link ClusterNode}. Until {@link
   * #recoverAndServe} has returned, calls end UNAVAILABLE.
   */
  public static Indexes unrecovered(IndexMemory memory) {
    return new Indexes(ClientRegistry::new, memory);
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
   * and lets calls and readers begin: where the node is alone, once it leads what it has. Called
   * once, after {@link #unrecovered} and the creation of the node; what it throws leaves the
   * indexes to be closed.
   *
   * @throws IOException if the disk fails, the journal is damaged, or the memory is too small.
   * @throws IllegalArgumentException when another process has moved the gate of the data directory.
   */
  public void recoverAndServe() throws IOException {
    memory.recover();
    if (node != null && node.isAlone()) {
      node.startAlone();
      new ExpiredMeanwhile(indexes.values()).await();
    }
    memory.serve();
    started = true;
  }

  /** The limit of index memory, and where it comes from. */
  public HostMemory.Budget budget() {
    return memory.budget();
  }

  /** Makes these the indexes of a node, before {@link #recoverAndServe}. */
  void join(ClusterNode of) {
    node = of;
    join(of.catalog());
  }

  void join(IndexCatalog of) {
    catalog = of;
  }

  /** Creates the registry of the clients of an index that this node begins to lead. */
  ClientRegistry newClients() {
    return clients.get();
  }

  /** The catalog of all indexes that calls to this server may name. */
  IndexCatalog catalog() {
    return catalog;
  }

  /** The node that leads these indexes. */
  ClusterNode node() {
    return node;
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

  /** Sets the receiver of the durations of calls, before services over these indexes are bound. */
  void callMetrics(CallMetrics metrics) {
    callMetrics = metrics;
  }

  CallMetrics callMetrics() {
    return callMetrics;
  }

  /**
   * Sets the rights of callers, before services over these indexes are bound. The server also needs
   * their {@linkplain Rights#connections filter}. Without them, each caller may do everything.
   */
  public void rights(Rights ofCallers) {
    rights = ofCallers;
    ofCallers.nodes(caller -> catalog.isNode(caller));
  }

  @Nullable Rights rights() {
    return rights;
  }

  /** The service as callers may use it. */
  ServerServiceDefinition guarded(ServerServiceDefinition service) {
    final Rights ofCallers = rights;
    return ofCallers == null ? service : ofCallers.guard(service);
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
    return description(index.name(), index.entry().definition()).setEntries(index.count()).build();
  }

  private IndexDescription.Builder description(String name, IndexDefinition definition) {
    final IndexDescription.Builder description =
        IndexDescription.newBuilder()
            .setName(name)
            .setKind(definition.kind())
            .setIncarnation(definition.incarnation())
            .setPartitions(definition.partitions())
            .setMemoryUsed(memory.store().usedBytes())
            .setMemoryLimit(memory.store().budget())
            .setDurability(definition.durability());
    return definition.appends() == null
        ? description
        : description.setAppends(definition.appends());
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
    return description(name, definition).setLedElsewhere(true).build();
  }

  /**
   * Closes the memory, and with it all indexes; those at level memory end. Direct readers turn
   * away. No call may be under way any more. To be called once.
   */
  @Override
  public void close() {
    if (node != null) {
      node.close();
    }
    memory.close();
  }

  private static void onError(Throwable failure) {
    LOGGER.log(System.Logger.Level.ERROR, "a partition's writer has failed", failure);
  }
}
