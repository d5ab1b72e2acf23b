package dev.ringfetch.index.service;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.data.Claim;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.grant.NodeGates;
import dev.ringfetch.index.host.BackgroundThreads;
import dev.ringfetch.index.host.ServerTime;
import dev.ringfetch.index.host.SharedMemory;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.TimeSource;
import dev.ringfetch.index.replay.MemoryTooSmallException;
import dev.ringfetch.index.replay.ParallelStep;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.store.StoredIndex;
import dev.ringfetch.index.v1.DescribeServerResponse;
import dev.ringfetch.index.v1.Durability;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
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

  /** The most bytes of index memory unless set; where the host or the container has less, fewer. */
  public static final long BUDGET_DEFAULT = HostMemory.BUDGET_DEFAULT;

  /** The fewest bytes of index memory: room for the default index and a few longest entries. */
  public static final long BUDGET_MIN = HostMemory.BUDGET_MIN;

  /** Partitions of an index unless set. */
  public static final int PARTITIONS_DEFAULT = 16;

  /** The most partitions of an index. */
  public static final int PARTITIONS_MAX = 256;

  /** How long a write waits at most for its sync with {@link Durability#INTERVAL}, unless set. */
  public static final Duration SYNC_INTERVAL_DEFAULT = Journal.Context.INTERVAL_DEFAULT;

  /** The fewest bytes of journal between two snapshots. */
  public static final long SNAPSHOT_AFTER_MIN = 1L << 20;

  /** Names of the fabrics over which clients read memory unless set, the preferred one first. */
  public static final List<String> FABRICS_DEFAULT =
      List.of(FabricProviders.SHM, FabricProviders.VERBS);

  /** Length of a segment: small enough that a server without entries has little memory. */
  private static final int SEGMENT_LENGTH = 16 << 20;

  /** Length of a segment where memory is short: room for a longest entry. */
  private static final int SHORT_SEGMENT_LENGTH = 4 << 20;

  /**
   * Threads for calls for ranges: they take processor time alone, and leave half of it to others.
   */
  private static final int SCANNERS =
      Math.max(1, Math.min(4, Runtime.getRuntime().availableProcessors() / 2));

  private static final SecureRandom RANDOM = new SecureRandom();

  private final HostMemory host;
  private final HostMemory.Budget budget;
  private final @Nullable Path directory; // of shared memory; null: index memory is not there
  private final GatePage gate;
  private boolean hasTakenOver; // guarded by this
  private final long process; // drawn at random: a copy's process never has that of the original's
  private final long epoch; // only grows in a data directory
  private final @Nullable DataDirectory data; // null: the gate ends with the process
  private final int partitions;
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
  private final BackgroundThreads growth = new BackgroundThreads("index-memory-growth");
  private final BackgroundThreads writer = new BackgroundThreads("index-writer");
  private final BackgroundThreads scanners = new BackgroundThreads("index-scanner", SCANNERS);
  private final BackgroundThreads watcher = new BackgroundThreads("index-watcher");
  private final BackgroundThreads historian = new BackgroundThreads("index-history");
  private final Handover handover = new Handover(writer, Handover.CYCLES_DEFAULT);
  private final ServerTime time;

  /** The one that makes the memory comes first; empty: it is of this process alone. */
  private final List<SharedMemory> shared = new CopyOnWriteArrayList<>();

  private IndexMemory(Context context, List<Fabric> fabrics, DataDirectory data)
      throws IOException {
    this.data = data;
    this.host = context.host;
    this.directory =
        !fabrics.isEmpty() && fabrics.get(0).name().equals(FabricProviders.SHM)
            ? context.fabricContext.directory()
            : null;
    this.budget =
        context.budget == 0 ? host.budget(directory) : new HostMemory.Budget(context.budget, "");
    this.partitions = context.partitions;
    this.time = context.time == null ? new ServerTime() : context.time;
    this.durability = context.durability;
    this.journalOptions =
        new IndexJournal.Options(
            context.syncInterval,
            context.snapshotAfter,
            (bytes, total, records) -> {
              checkRecovery();
              context.progress.onProgress(bytes, total, records);
            },
            context.journalMetrics,
            context.onWritingEnded);
    this.process = RANDOM.nextLong(1, Long.MAX_VALUE);
    this.epoch = data == null ? process : data.incarnation();
    if (fabrics.isEmpty()) {
      gate = data == null ? GatePage.in(new DirectRegion(GateDescriptor.LENGTH)) : data.gate();
    } else {
      final GatePage own = data == null ? null : data.gate();
      shared.add(openFirst(fabrics.get(0), context, own));
      gate = shared.get(0).domain().gate();
      fabrics.subList(1, fabrics.size()).forEach(this::share);
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
                  .growth(growth)
                  .gate(gate.region(), GateDescriptor.WORD_OFFSET)
                  .incarnation(epoch)
                  .seed(RANDOM.nextLong()));
      statuses = new Outcomes(store, budget.reason(), data, outcomes, this::openJournal);
      opened = true;
    } finally {
      if (!opened) {
        growth.close();
        shared.forEach(memory -> memory.domain().close());
      }
    }
  }

  private SharedMemory openFirst(Fabric fabric, Context context, GatePage own) throws IOException {
    try {
      return new SharedMemory(fabric, domainContext(own));
    } catch (IOException e) {
      throw new IOException(
          "cannot open index memory: fabric="
              + fabric.name()
              + " shmDirectory="
              + context.fabricContext.directory()
              + " data="
              + data
              + ": "
              + Obstacle.of(e),
          e);
    }
  }

  private DomainContext domainContext(GatePage page) {
    final DomainContext domainContext = new DomainContext().memoryLimit(budget.bytes());
    return page == null ? domainContext : domainContext.gate(page, epoch);
  }

  /** Shows the memory over another fabric, if that can be. */
  private void share(Fabric fabric) {
    try {
      shared.add(new SharedMemory(fabric, domainContext(gate)));
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "no direct reads over " + fabric.name() + ": " + e.getMessage());
      fabric.close();
    }
  }

  /** Is told how far the recovery of a journal has come, on the thread that opens the memory. */
  @FunctionalInterface
  public interface RecoveryListener {
    /**
     * Called about once for each MiB.
     *
     * @param bytes of snapshot and journal that were read
     * @param total bytes that are to be read at most
     * @param records that were carried out
     */
    void onProgress(long bytes, long total, long records);
  }

  /** Options of index memory. Setters return this. */
  public static final class Context {
    private HostMemory host = new HostMemory();
    private long budget; // 0: as the host has it
    private int partitions = PARTITIONS_DEFAULT;
    private List<String> fabrics = FABRICS_DEFAULT;
    private boolean named; // whether the application has named the fabrics
    private boolean fallback;
    private final FabricContext fabricContext = new FabricContext();
    private Path dataDirectory;
    private boolean takeover;
    private boolean adoptCopy;
    private Durability durability = Durability.MEMORY;
    private Duration syncInterval = SYNC_INTERVAL_DEFAULT;
    private long snapshotAfter;
    private JournalMetrics journalMetrics = JournalMetrics.NONE;
    private Runnable onWritingEnded = () -> {};
    private RecoveryListener progress = (bytes, total, records) -> {};
    private @Nullable ServerTime time; // null: that of the system

    /** Creates the defaults, without a data directory. */
    public Context() {}

    /**
     * Sets the most bytes, at least {@link #BUDGET_MIN}. Unless set they are {@link
     * #BUDGET_DEFAULT}, or fewer where the host, its container or the file system of shared memory
     * has room for fewer.
     */
    public Context budget(long bytes) {
      if (bytes < BUDGET_MIN) {
        throw new IllegalArgumentException(
            "memory is too small: " + bytes + " < " + BUDGET_MIN + " bytes");
      }
      this.budget = bytes;
      return this;
    }

    /** Sets the memory that there is, which limits the growth; that of this process unless set. */
    public Context host(HostMemory memory) {
      this.host = memory;
      return this;
    }

    /** Sets the partitions of each index, a power of two up to {@link #PARTITIONS_MAX}. */
    public Context partitions(int count) {
      if (Integer.bitCount(count) != 1 || count < 1 || count > PARTITIONS_MAX) {
        throw new IllegalArgumentException(
            "partitions is no power of two from 1 to " + PARTITIONS_MAX + ": " + count);
      }
      this.partitions = count;
      return this;
    }

    /**
     * Sets the names of the fabrics over which clients read {@linkplain #shared shared} memory, the
     * preferred one first; {@link #FABRICS_DEFAULT} unless set. The first that can be used makes
     * the memory, and {@code shm} shows no memory but its own, so it stands first.
     *
     * @throws IllegalArgumentException when a name is blank, or given twice.
     */
    public Context fabrics(String... names) {
      final Set<String> seen = new HashSet<>();
      for (final String name : names) {
        if (name.isBlank() || !seen.add(name)) {
          throw new IllegalArgumentException("blank or named twice: fabric=\"" + name + "\"");
        }
      }
      this.fabrics = List.of(names);
      this.named = true;
      return this;
    }

    /**
     * Sets the directory of the shared-memory fabric, the same as the server's and the clients';
     * {@code /dev/shm} unless set here or by the system property {@value
     * FabricContext#DIRECTORY_PROP_NAME}.
     */
    public Context shmDirectory(Path directory) {
      fabricContext.directory(directory);
      return this;
    }

    /**
     * Sets whether a server whose fabrics cannot be used serves from memory of its process alone,
     * with a warning in the log. Unless set it does not: {@link #shared} throws.
     */
    public Context fallback(boolean toProcess) {
      this.fallback = toProcess;
      return this;
    }

    /**
     * Sets the data directory, created where it is missing; null for none, as unless set. One
     * server at a time owns it. It has the gate, by which a server takes over from a killed one:
     * until then clients go on to read the memory of the killed server. It has the journal, too, of
     * indexes whose {@link #durability} needs one. Without a data directory, the gate ends with the
     * process.
     */
    public Context dataDirectory(Path directory) {
      this.dataDirectory = directory;
      return this;
    }

    /**
     * Sets whether a data directory may be taken that was served last on another host, before this
     * host rebooted, or on another mount of its file system, or whose lock was deleted. The caller
     * knows that no process serves or reads it.
     */
    public Context takeover(boolean taken) {
      this.takeover = taken;
      return this;
    }

    /**
     * Sets whether the data directory is a copy, or an older state, of one that was served since.
     * Its indexes get new incarnations at each start with it: watches do not go on with the
     * original's tokens.
     */
    public Context adoptCopy(boolean adopted) {
      this.adoptCopy = adopted;
      return this;
    }

    /**
     * Sets what an answered write survives, of an index that is created without saying so; {@link
     * Durability#MEMORY} unless set. Others need a data directory.
     */
    public Context durability(Durability level) {
      if (level == Durability.DURABILITY_UNSPECIFIED || level == Durability.UNRECOGNIZED) {
        throw new IllegalArgumentException("durability=" + level);
      }
      this.durability = level;
      return this;
    }

    /**
     * Sets how long a write may wait for its sync to begin, in an index of {@link
     * Durability#INTERVAL}; {@link #SYNC_INTERVAL_DEFAULT} unless set.
     *
     * @throws IllegalArgumentException unless it is from 1 ms to 1 min.
     */
    public Context syncInterval(Duration interval) {
      if (interval.toMillis() < 1 || interval.compareTo(Duration.ofMinutes(1)) > 0) {
        throw new IllegalArgumentException("sync-interval is not from 1 ms to 1 min: " + interval);
      }
      this.syncInterval = interval;
      return this;
    }

    /**
     * Sets the bytes of journal after which a snapshot is taken, so that the journal before it can
     * be removed. Unless set, these are 256 MiB, or twice the length of the last snapshot if that
     * is more.
     *
     * @throws IllegalArgumentException if they are fewer than {@link #SNAPSHOT_AFTER_MIN}.
     */
    public Context snapshotAfter(long bytes) {
      if (bytes < SNAPSHOT_AFTER_MIN) {
        throw new IllegalArgumentException(
            "snapshot-after is too small: " + bytes + " < " + SNAPSHOT_AFTER_MIN + " bytes");
      }
      this.snapshotAfter = bytes;
      return this;
    }

    /** Sets what is told how far the recovery has come, on the thread that opens the memory. */
    public Context progress(RecoveryListener told) {
      this.progress = told;
      return this;
    }

    /** Sets what is told what the journal measures. */
    public Context journalMetrics(JournalMetrics metrics) {
      this.journalMetrics = metrics;
      return this;
    }

    /**
     * Sets what is run when the disk has failed, and indexes that are kept on it take no writes any
     * more until another server starts. Run once, on the journal's thread; reads go on.
     */
    public Context onWritingEnded(Runnable ended) {
      this.onWritingEnded = ended;
      return this;
    }

    /**
     * Sets the time by which entries end, which the memory closes; that of the system unless set.
     */
    Context time(ServerTime source) {
      this.time = source;
      return this;
    }

    /** Opens the fabrics that can be used; the caller closes them. */
    private List<Fabric> openFabrics() throws IOException {
      final List<Fabric> opened = new ArrayList<>();
      final Map<String, String> obstacles = new LinkedHashMap<>(); // by the fabric's name
      for (final String name : fabrics) {
        try {
          opened.add(FabricProviders.open(name, fabricContext));
        } catch (IOException e) {
          obstacles.put(name, Obstacle.of(e));
        }
      }
      if (opened.isEmpty() && !fallback) {
        throw new IOException(
            "no fabric for index memory: fabrics=" + fabrics + " obstacles=" + obstacles);
      }
      obstacles.forEach(
          (name, obstacle) ->
              LOGGER.log(
                  named || name.equals(fabrics.get(0)) ? Level.WARNING : Level.DEBUG,
                  "no direct reads over " + name + ": " + obstacle));
      return opened;
    }

    private Claim claim() {
      return adoptCopy ? Claim.COPY : takeover ? Claim.TAKEOVER : Claim.NONE;
    }

    /** Opens the data directory, which the caller closes. Returns null where there is none. */
    private @Nullable DataDirectory openData() throws IOException {
      try {
        return dataDirectory == null ? null : DataDirectory.open(dataDirectory, claim());
      } catch (FileSystemException e) { // whose message may be a path alone
        throw new IOException(
            "cannot open the data directory: data="
                + dataDirectory
                + ": "
                + e.getClass().getSimpleName()
                + ": "
                + e.getMessage(),
            e);
      }
    }
  }

  /** Memory that no other process reaches, taken as it is needed, up to so many bytes. */
  public static IndexMemory ofProcess(long budget) {
    try {
      return ofProcess(new Context().budget(budget));
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
  public static IndexMemory ofProcess(Context context) throws IOException {
    return open(context, List.of());
  }

  /**
   * Memory that clients can be granted to read, over those of the context's fabrics that can be
   * used.
   *
   * @throws IOException when no fabric can be used, unless {@link Context#fallback} is set, or the
   *     memory or the data directory cannot be used; with path and reason in its message. Nothing
   *     stays open then.
   */
  public static IndexMemory shared(Context context) throws IOException {
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

  private static IndexMemory open(Context context, List<Fabric> fabrics) throws IOException {
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
            shared.stream().map(SharedMemory::fabric).toList(),
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
    return shared.isEmpty() ? allocate(length) : share(length);
  }

  private MemoryRegion share(int length) throws IOException {
    final SharedMemory first = shared.get(0);
    final MemoryRegion memory = first.grow(length);
    for (final SharedMemory other : List.copyOf(shared)) {
      try {
        if (other != first) {
          other.adopt(memory);
        }
      } catch (IOException | RuntimeException | OutOfMemoryError e) { // the segment itself is there
        LOGGER.log(Level.WARNING, "no more direct reads over " + other + ": " + e.getMessage());
        shared.remove(other);
        other.close();
      }
    }
    return memory;
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
    final IndexJournal opened = journal;
    return opened == null ? null : opened.journal();
  }

  /** Bounds the outcomes of writes with numbers. */
  OutcomeBudget outcomes() {
    return outcomes;
  }

  /** Of an index that is created without saying so. */
  Durability durability() {
    return durability;
  }

  /** Where a partition's owner leaves the rest of its work. */
  Handover handover() {
    return handover;
  }

  /** The time by which entries end. */
  TimeSource time() {
    return time;
  }

  /** Where calls for ranges go on, a page at a time. */
  Executor scanners() {
    return scanners;
  }

  /** Where watches go on: one thread, which never waits. */
  Executor watcher() {
    return watcher;
  }

  /** Where watches read the journal: one thread, which waits for the disk. */
  Executor historian() {
    return historian;
  }

  long epoch() {
    return epoch;
  }

  /** The number of this process: positive, drawn at random. */
  long process() {
    return process;
  }

  int partitions() {
    return partitions;
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
    return shared;
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
    shared.forEach(memory -> memory.fabric().sweep());
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
    growth.close();
    scanners.close(); // before what it may hand over to
    watcher.close();
    historian.close();
    writer.close();
    if (journal != null) {
      journal.close();
    }
    if (nodeGates != null) {
      nodeGates.close();
    }
    for (int i = shared.size() - 1; i >= 0; i--) { // the one that made the memory comes last
      shared.get(i).close();
    }
    close(data); // last: a successor owns the directory from here on
  }
}
