package dev.ringfetch.index.service;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.store.StoredIndex;
import io.grpc.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;

/**
 * The memory of a server's indexes, the gate before it, and the epoch in which it may be read. It
 * belongs to this process alone, or to a domain of a fabric, where peers can be admitted to it.
 *
 * <p>Safe for use by many threads.
 */
public final class IndexMemory implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(IndexMemory.class.getName());

  /** Bytes of index memory unless set. */
  public static final long BUDGET_DEFAULT = 1L << 30;

  /** The fewest bytes of index memory: room for the default index and a few longest entries. */
  public static final long BUDGET_MIN = 16L << 20;

  /** Partitions of an index unless set. */
  public static final int PARTITIONS_DEFAULT = 16;

  /** The most partitions of an index. */
  public static final int PARTITIONS_MAX = 256;

  /** Length of a segment: small enough that a server without entries has little memory. */
  private static final int SEGMENT_LENGTH = 16 << 20;

  /** Length of a segment where memory is short: room for a longest entry. */
  private static final int SHORT_SEGMENT_LENGTH = 4 << 20;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final GatePage gate;
  private final long epoch;
  private final long origin; // tells epochs of data directories apart
  private final boolean successors;
  private final int partitions;
  private final StoreMemory store;
  private final BackgroundThread growth = new BackgroundThread("index-memory-growth");
  private final BackgroundThread writer = new BackgroundThread("index-writer");
  private final BackgroundThread scanner = new BackgroundThread("index-scanner");
  private final Handover handover = new Handover(writer, Handover.CYCLES_DEFAULT);

  /** The one that makes the memory comes first; empty: it is of this process alone. */
  private final List<SharedMemory> shared = new CopyOnWriteArrayList<>();

  private IndexMemory(Context context, List<Fabric> fabrics) throws IOException {
    final DataDirectory data = context.data;
    this.successors = data != null;
    this.partitions = context.partitions;
    this.epoch = data == null ? RANDOM.nextLong(1, Long.MAX_VALUE) : data.incarnation();
    this.origin = data == null ? 0 : Long.parseUnsignedLong(data.id(), 0, Long.BYTES * 2, 16);
    if (fabrics.isEmpty()) {
      gate = data == null ? GatePage.in(new DirectRegion(GateDescriptor.LENGTH)) : data.gate();
    } else {
      final GatePage own = data == null ? null : data.gate();
      shared.add(new SharedMemory(fabrics.get(0), domainContext(context, own)));
      gate = shared.get(0).domain().gate();
      fabrics.subList(1, fabrics.size()).forEach(fabric -> share(fabric, context));
    }
    boolean opened = false;
    try {
      store =
          new StoreMemory(
              new StoreMemory.Context()
                  .segmentSource(shared.isEmpty() ? IndexMemory::allocate : this::grow)
                  .segmentLength(
                      context.budget < 4L * SEGMENT_LENGTH ? SHORT_SEGMENT_LENGTH : SEGMENT_LENGTH)
                  .budget(context.budget)
                  .growth(growth)
                  .gate(gate.region(), GateDescriptor.WORD_OFFSET)
                  .incarnation(epoch)
                  .seed(RANDOM.nextLong()));
      opened = true;
    } finally {
      if (!opened) {
        growth.close();
        shared.forEach(memory -> memory.domain().close());
      }
    }
  }

  private DomainContext domainContext(Context context, GatePage page) {
    final DomainContext domainContext = new DomainContext().memoryLimit(context.budget);
    return page == null ? domainContext : domainContext.gate(page, epoch);
  }

  /** Shows the memory over another fabric, if that can be. */
  private void share(Fabric fabric, Context context) {
    try {
      shared.add(new SharedMemory(fabric, domainContext(context, gate)));
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "no direct reads over " + fabric.name() + ": " + e.getMessage());
      fabric.close();
    }
  }

  /** Options of index memory. Setters return this. */
  public static final class Context {
    private long budget = BUDGET_DEFAULT;
    private int partitions = PARTITIONS_DEFAULT;
    private DataDirectory data;

    /** Sets the most bytes, at least {@link #BUDGET_MIN}. */
    public Context budget(long bytes) {
      if (bytes < BUDGET_MIN) {
        throw new IllegalArgumentException(
            "memory is too small: " + bytes + " < " + BUDGET_MIN + " bytes");
      }
      this.budget = bytes;
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

    /** Sets the directory whose gate is used; without one, the gate ends with the process. */
    public Context data(DataDirectory directory) {
      this.data = directory;
      return this;
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

  /** Memory that no other process reaches. */
  public static IndexMemory ofProcess(Context context) throws IOException {
    return new IndexMemory(context, List.of());
  }

  /**
   * Memory of a domain of a fabric.
   *
   * @param fabric closed with the memory, but not if this throws.
   */
  public static IndexMemory of(Fabric fabric, Context context) throws IOException {
    return of(List.of(fabric), context);
  }

  /**
   * Memory of a domain of the first of some fabrics, which peers reach over the others, too, as far
   * as these can show it.
   *
   * @param fabrics at least one; closed with the memory; if this throws, by the caller.
   */
  public static IndexMemory of(List<Fabric> fabrics, Context context) throws IOException {
    if (fabrics.isEmpty()) {
      throw new IllegalArgumentException("fabrics=" + fabrics);
    }
    return new IndexMemory(context, fabrics);
  }

  private static MemoryRegion allocate(int length) throws IOException {
    try {
      return new DirectRegion(length);
    } catch (OutOfMemoryError e) { // which the JVM throws at its limit, and survives
      throw new IOException("the JVM's limit of direct memory is reached: length=" + length, e);
    }
  }

  private MemoryRegion grow(int length) throws IOException {
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

  /** Where a partition's owner leaves the rest of its work. */
  Handover handover() {
    return handover;
  }

  /** Where calls for ranges go on, a page at a time. */
  Executor scanner() {
    return scanner;
  }

  long epoch() {
    return epoch;
  }

  int partitions() {
    return partitions;
  }

  /** Whether a successor closes this memory, if this process is killed. */
  boolean hasSuccessors() {
    return successors;
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
    gate.move(epoch);
    shared.forEach(memory -> memory.fabric().sweep());
    store.serve();
  }

  /**
   * The incarnation of an index, as answers name it: differs between all indexes of this epoch, and
   * from those of others as far as 64 bits go.
   */
  long incarnation(StoredIndex index) {
    final long mixed = StoreMemory.mix(StoreMemory.mix(epoch ^ origin) + index.number());
    return mixed == 0 ? 1 : mixed;
  }

  /** The status of a write that finds no memory. */
  Status full() {
    final IOException failure = store.growthFailure();
    if (failure != null && !store.isAtLimit()) {
      return Status.RESOURCE_EXHAUSTED
          .withDescription(
              "index memory cannot grow: "
                  + failure.getMessage()
                  + "; used="
                  + store.usedBytes()
                  + " bytes, limit="
                  + store.budget()
                  + "; deletes make room")
          .withCause(failure);
    }
    return Status.RESOURCE_EXHAUSTED.withDescription(
        "index memory is full: limit="
            + store.budget()
            + " bytes, which --memory sets; deletes make room");
  }

  /** Closes the gate and gives memory that others reach back. No thread may use it any more. */
  @Override
  public void close() {
    if (gate.epoch() == epoch) { // not a predecessor's, which may still be read
      gate.close();
    }
    growth.close();
    scanner.close(); // before what it may hand over to
    writer.close();
    for (int i = shared.size() - 1; i >= 0; i--) { // the one that made the memory comes last
      shared.get(i).close();
    }
  }
}
