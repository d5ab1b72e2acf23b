package dev.ringfetch.index.service;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.grant.NodeGates;
import dev.ringfetch.index.host.IndexThreads;
import dev.ringfetch.index.host.ServerTime;
import dev.ringfetch.index.host.SharedDomains;
import dev.ringfetch.index.host.SharedMemory;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.partition.TimeSource;
import dev.ringfetch.index.replay.MemoryTooSmallException;
import dev.ringfetch.index.replay.ParallelStep;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.store.StoredIndex;
import dev.ringfetch.index.v1.DescribeServerResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a server's indexes, the gate before it, and the epoch in which it may be read. It
 * belongs to this process alone, or to a domain of a fabric, where peers can be admitted to it.
 *
 * <p>Its owner is the {@link Indexes} that it is passed to, which close it.
 *
 * <p>Safe for use by many threads.
 */
public final class IndexMemory implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(IndexMemory.class.getName());

  /** Length of a segment: small enough that a server without entries has little memory. */
  private static final int SEGMENT_LENGTH = 16 << 20;

  /** Length of a segment where memory is short: room for a longest entry. */
  private static final int SHORT_SEGMENT_LENGTH = 4 << 20;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final HostMemory host;
  private final HostMemory.Budget budget;
  private final @Nullable Path directory; // of shared memory; null: index memory is not there
  private final GatePage gate;
  private boolean hasTakenOver; // guarded by this
  private final long process; // drawn at random: a copy's process never has that of the original's
  private final long epoch; // only grows in a data directory
  private final @Nullable DataDirectory data; // null: the gate ends with the process
  final ToIntFunction<IndexKind> partitions; // of a new index
  private final Durability durability;
  private final IndexJournal.Options journalOptions;
  private final OutcomeBudget outcomes = new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT);
  private final StoreMemory store;
  private final Outcomes statuses;
  private @Nullable ParallelStep earlyRecovery; // null: none has begun
  private volatile boolean recoveryGivenUp;
  private NodeRecovery groups; // takes the journal's records
  private IndexJournal.Check check; // of what it has taken
  private volatile @Nullable IndexJournal journal; // null: not read yet, or no data directory
  private volatile @Nullable NodeGates nodeGates; // null: this is no node of a cluster
  private final IndexThreads threads = new IndexThreads();
  private final ServerTime time;
  private final @Nullable SharedDomains shared; // null: it is of this process alone

  private IndexMemory(IndexMemoryContext context, List<Fabric> fabrics, DataDirectory data)
      throws IOException {
    this.data = data;
    this.host = context.host;
    this.directory =
        !fabrics.isEmpty() && fabrics.get(0).name().equals(FabricProviders.SHM)
            ? context.fabricContext.directory()
            : null;
    this.budget =
        context.budget == 0 ? host.budget(directory) : new HostMemory.Budget(context.budget, "");
    this.partitions = context.partitions();
    this.time = context.time == null ? new ServerTime() : context.time;
    this.durability = context.durability;
    this.journalOptions =
        new IndexJournal.Options(
            context.syncInterval,
            context.snapshotAfter,
            context.diskQuota,
            (bytes, total, records) -> {
              checkRecovery();
              context.progress.onProgress(bytes, total, records);
            },
            context.journalMetrics,
            context.onWritingEnded);
    this.process = RANDOM.nextLong(1, Long.MAX_VALUE);
    this.epoch = data == null ? process : data.incarnation();
    if (fabrics.isEmpty()) {
      shared = null;
      gate = data == null ? GatePage.in(new DirectRegion(GateDescriptor.LENGTH)) : data.gate();
    } else {
      shared = share(fabrics, context);
      gate = shared.gate();
    }
    boolean opened = false;
    try {
      store =
          new StoreMemory(
              new StoreMemory.Context()
                  .segmentSource(this::grow)
                  .segmentLength(
                      budget.bytes() < 4L * SEGMENT_LENGTH ? SHORT_SEGMENT_LENGTH : SEGMENT_LENGTH)
                  .budget(budget.bytes())
                  .growth(threads.growth())
                  .gate(gate.region(), GateDescriptor.WORD_OFFSET)
                  .incarnation(epoch)
                  .seed(RANDOM.nextLong()));
      statuses = new Outcomes(store, budget.reason(), data, outcomes, this::openJournal);
      opened = true;
    } finally {
      if (!opened) {
        threads.close();
        if (shared != null) {
          shared.list().forEach(memory -> memory.domain().close());
        }
      }
    }
  }

  private SharedDomains share(List<Fabric> fabrics, IndexMemoryContext context) throws IOException {
    try {
      return new SharedDomains(
          fabrics,
          page -> {
            final DomainContext domain = new DomainContext().memoryLimit(budget.bytes());
            return page == null ? domain : domain.gate(page, epoch);
          },
          data == null ? null : data.gate());
    } catch (IOException e) {
      throw new IOException(
          "cannot open index memory: fabric="
              + fabrics.get(0).name()
              + " shmDirectory="
              + context.fabricContext.directory()
              + " data="
              + data
              + ": "
              + Obstacle.of(e),
          e);
    }
  }

  /** Memory that no other process reaches, taken as it is needed, up to so many bytes. */
  public static IndexMemory ofProcess(long budget) {
    try {
      return ofProcess(new IndexMemoryContext().budget(budget));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Memory that no other process reaches. The context's fabrics are without effect.
   *
   * @throws IOException when the data directory cannot be used, with path and reason in its
   *     message.
   */
  public static IndexMemory ofProcess(IndexMemoryContext context) throws IOException {
    return open(context, List.of());
  }

  /**
   * Memory that clients can be granted to read, over those of the context's fabrics that can be
   * used.
   *
   * @throws IOException when no fabric can be used, unless {@link IndexMemoryContext#fallback} is
   *     set, or the memory or the data directory cannot be used; with path and reason in its
   *     message. Nothing stays open then.
   */
  public static IndexMemory shared(IndexMemoryContext context) throws IOException {
    final List<Fabric> fabrics = context.openFabrics();
    boolean opened = false;
    try {
      final IndexMemory memory = open(context, fabrics);
      opened = true;
      return memory;
    } finally {
      if (!opened) {
        fabrics.forEach(Fabric::close);
      }
    }
  }

  private static IndexMemory open(IndexMemoryContext context, List<Fabric> fabrics)
      throws IOException {
    final DataDirectory data = context.openData();
    IndexMemory memory = null;
    boolean opened = false;
    try {
      if (data == null && context.durability != Durability.MEMORY) {
        throw new IOException("no data directory: durability=" + context.durability);
      }
      memory = new IndexMemory(context, fabrics, data);
      opened = true;
      return memory;
    } finally {
      if (!opened) {
        if (memory == null) {
          close(data);
        } else {
          memory.close();
        }
      }
    }
  }

  /** Whether the data directory has a journal, which a start reads. */
  public boolean hasJournal() throws IOException {
    return data != null && IndexJournal.isIn(data);
  }

  /** Begins to {@link #recover} on another thread. */
  void beginRecovery() {
    earlyRecovery =
        new ParallelStep(
            step -> {
              final Thread thread = new Thread(step, "index-recovery");
              thread.setDaemon(true);
              thread.start();
            },
            this::readJournal);
  }

  /** Builds the indexes of the journal, if the data directory has one, or is to have one. */
  void recover() throws IOException {
    if (earlyRecovery == null) {
      readJournal();
    } else {
      earlyRecovery.await();
    }
  }

  /** Ends a recovery whose result nobody needs any more. */
  void checkRecovery() {
    if (recoveryGivenUp) {
      throw new CancellationException("the server ends before it has read its journal");
    }
  }

  private void readJournal() throws IOException {
    journal = data == null ? null : IndexJournal.open(data, groups, check, journalOptions);
  }

  /**
   * Throws if the data directory, where there is one, belongs to this process no more: its lock or
   * its gate was deleted, or another server has taken over. The program is to end then, and to
   * write nothing there. Writes at level interval or disk are not answered any more.
   *
   * @throws IOException with the reason as its message
   */
  public void checkOwned() throws IOException {
    if (data != null) {
      data.checkOwned();
    }
  }

  /** Opens the gates of a node's groups, which this closes. Called once at most. */
  NodeGates openGates(long node) {
    nodeGates =
        new NodeGates(
            node,
            process,
            epoch,
            shared().stream().map(SharedMemory::fabric).toList(),
            data == null ? null : gate);
    return nodeGates;
  }

  /** The gates of a node's groups; null if this is no node of a cluster. */
  @Nullable NodeGates nodeGates() {
    return nodeGates;
  }

  /** Throws if the records of a group were given up. */
  void checkRecovered() throws IOException {
    final GroupStoreException failure = groups.failure();
    if (failure != null) {
      throw new IOException(
          MemoryTooSmallException.isIn(failure)
              ? "the journal does not fit: index memory " + statuses.fullness() + ": data=" + data
              : failure.getMessage(),
          failure);
    }
  }

  /** Sets what takes the journal's records, before they are read, and what checks them. */
  void ofNode(NodeRecovery sink, IndexJournal.Check whenRead) {
    groups = sink;
    check = whenRead;
  }

  private static void close(DataDirectory data) {
    try {
      if (data != null) {
        data.close();
      }
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "cannot close the data directory: data=" + data, e);
    }
  }

  private static MemoryRegion allocate(int length) throws IOException {
    try {
      return new DirectRegion(length);
    } catch (OutOfMemoryError e) { // which the JVM throws at its limit, and survives
      throw new IOException("the JVM's limit of direct memory is reached: length=" + length, e);
    }
  }

  /**
   * Creates a segment, where there is room for it. A killed predecessor's memory is given up only
   * when its room is needed: until then, clients go on to read it.
   */
  private MemoryRegion grow(int length) throws IOException {
    String shortage = host.shortage(length, directory);
    if (shortage != null && takeOver()) {
      shortage = host.shortage(length, directory);
    }
    if (shortage != null) {
      throw new IOException(shortage);
    }
    return shared == null ? allocate(length) : shared.grow(length);
  }

  StoreMemory store() {
    return store;
  }

  /** The statuses of writes that were not carried out. */
  Outcomes statuses() {
    return statuses;
  }

  /** The journal; null: it is not read yet, or there is no data directory. */
  @Nullable IndexJournal journal() {
    return journal;
  }

  Journal openJournal() {
    return journal == null ? null : journal.journal(); // which is set once
  }

  /** Bounds the outcomes of writes with numbers. */
  OutcomeBudget outcomes() {
    return outcomes;
  }

  /** Of an index that is created without saying so. */
  Durability durability() {
    return durability;
  }

  /** The threads on which work goes on that must not keep the thread of a call. */
  IndexThreads threads() {
    return threads;
  }

  /** The time by which entries end. */
  TimeSource time() {
    return time;
  }

  long epoch() {
    return epoch;
  }

  /** The number of this process: positive, drawn at random. */
  long process() {
    return process;
  }

  /** Whether a successor closes this memory, if this process is killed. */
  boolean hasSuccessors() {
    return data != null;
  }

  /** The data directory; null: there is none. */
  @Nullable DataDirectory data() {
    return data;
  }

  /** The domains in which peers reach the memory, the preferred one first. */
  List<SharedMemory> shared() {
    return shared == null ? List.of() : shared.list();
  }

  /**
   * Moves the gate to this epoch, which turns the readers of earlier servers away, removes the
   * memory of those, and lets readers begin.
   */
  void serve() {
    takeOver();
    store.serve();
  }

  /** Moves the gate and sweeps the predecessor's memory; false if that was done before. */
  private synchronized boolean takeOver() {
    if (hasTakenOver) {
      return false;
    }
    gate.move(epoch);
    hasTakenOver = true;
    if (shared != null) {
      shared.sweep();
    }
    return true;
  }

  /** The limit of the memory, and where it comes from. */
  public HostMemory.Budget budget() {
    return budget;
  }

  /** Whether the gate names this epoch: readers of earlier servers have turned away. */
  boolean isServed() {
    return gate.epoch() == epoch;
  }

  /**
   * The incarnation of an index, as answers name it: differs between all indexes of this process,
   * and from those of others as far as 64 bits go.
   */
  long incarnation(StoredIndex index) {
    final long mixed = StoreMemory.mix(StoreMemory.mix(process) + index.number());
    return mixed == 0 ? 1 : mixed;
  }

  /** The state for operators. */
  DescribeServerResponse describe() {
    final DescribeServerResponse.Builder description =
        DescribeServerResponse.newBuilder()
            .setIncarnation(epoch)
            .setDataDirectory(data == null ? "" : data.toString());
    final IndexJournal opened = journal;
    if (opened != null) {
      description.setJournal(opened.describe());
      if (opened.failure() != null) {
        description.setWritingEnded(String.valueOf(opened.failure().getMessage()));
      }
      if (opened.obstacle() != null) {
        description.setObstacle(String.valueOf(opened.obstacle().getMessage()));
      }
    }
    return description.build();
  }

  /**
   * Closes the gate, gives memory that others reach back, and gives up the data directory. No
   * thread may use the memory any more. To be called once.
   */
  @Override
  public void close() {
    if (earlyRecovery != null) {
      recoveryGivenUp = true; // without effect if it has ended
      earlyRecovery.end();
    }
    synchronized (this) {
      hasTakenOver = true; // or never will
      if (gate.epoch() == epoch) { // not a predecessor's, which may still be read
        gate.close();
      }
    }
    time.close();
    threads.close();
    if (journal != null) {
      journal.close();
    }
    if (nodeGates != null) {
      nodeGates.close();
    }
    if (shared != null) {
      shared.close();
    }
    close(data); // last: a successor owns the directory from here on
  }
}
