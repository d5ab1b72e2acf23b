package dev.ringfetch.memory;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.rpc.Experimental;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The names under which this process shares values, broadcasts, counters and locks, served by one
 * server. Clients reach them with {@link Memory}.
 *
 * <pre>{@code
 * RingServerBuilder builder = RingServerBuilder.forPort(8080);
 * Regions regions = Regions.on(builder);
 * OwnedValue<Quote> ibm = regions.value("ibm", QUOTE, 256);
 * Server server = builder.build().start();
 * ibm.set(quote);
 * }</pre>
 *
 * <p>A client reads memory under a grant, which is a call that passes the server's interceptors;
 * reads themselves do not. Where the client's connection is encrypted, memory is granted only over
 * {@link RingServerBuilder#plaintextFabrics}. Over a builder of gRPC alone, all goes by calls.
 *
 * <p>Close this before the server is shut down: the calls of clients that are attached end then.
 * Safe for use by many threads; each of the objects says which of its methods are.
 */
@Experimental
public final class Regions implements AutoCloseable {
  /** The longest name, in characters. */
  public static final int MAX_NAME_LENGTH = 255;

  private static final int NUMBER_SHIFT = 20;

  /** The last number that {@link #nextNumber} has given. */
  private static final AtomicLong LAST_NUMBER = new AtomicLong();

  private final Map<String, Owned> names = new ConcurrentHashMap<>();
  private final OwnerMemory memory;
  private final int lockBudget;
  private final MemoryService service;
  private final ThreadPoolExecutor answers =
      new ThreadPoolExecutor(
          1,
          1,
          10,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          task -> {
            final Thread thread = new Thread(task, "ringfetch-memory");
            thread.setDaemon(true);
            return thread;
          });

  private volatile boolean closed;

  private Regions(ServerBuilder<?> builder, List<Fabric> fabrics, int lockBudget) {
    this.memory = new OwnerMemory(fabrics);
    this.lockBudget = lockBudget;
    answers.allowCoreThreadTimeOut(true);
    this.service =
        new MemoryService(
            this,
            memory,
            fabric -> builder instanceof RingServerBuilder rings && rings.allowsPlaintext(fabric));
    builder.addService(service.definition());
  }

  /** Adds regions with the default options to a server. */
  public static Regions on(ServerBuilder<?> builder) {
    return on(builder, new RegionsContext());
  }

  /** Adds regions to a server. */
  public static Regions on(ServerBuilder<?> builder, RegionsContext context) {
    final List<Fabric> fabrics =
        builder instanceof RingServerBuilder
            ? OpenFabrics.open(context.fabrics(), context.fabricContext()).fabrics()
            : List.of();
    return new Regions(builder, fabrics, context.lockBudget());
  }

  /** For tests: with these fabrics, also on a builder of gRPC alone. */
  static Regions on(ServerBuilder<?> builder, List<Fabric> fabrics, int lockBudget) {
    return new Regions(builder, fabrics, lockBudget);
  }

  /**
   * The first of a million numbers that grow from name to name. They are beyond those of an earlier
   * process unless that has made more than a name, or used more than a million, a millisecond, or
   * the clock was set back.
   */
  private static long nextNumber() {
    return LAST_NUMBER.accumulateAndGet(
        System.currentTimeMillis() << NUMBER_SHIFT,
        (last, now) -> Math.max(last + (1L << NUMBER_SHIFT), now));
  }

  /**
   * Makes a value, which clients read without a call.
   *
   * @param maxLength of a value in bytes, up to 1 MiB.
   * @throws IllegalArgumentException if the name is not new, or a limit is exceeded.
   */
  public <T> OwnedValue<T> value(String name, Codec<T> codec, int maxLength) {
    if (maxLength < 1 || maxLength > ValueDescriptor.MAX_LENGTH) {
      throw new IllegalArgumentException(
          "maxLength=" + maxLength + " is not from 1 to " + ValueDescriptor.MAX_LENGTH);
    }
    checkNew(name);
    final OwnerMemory.Region region = memory.grow(name, ValueDescriptor.memoryLength(maxLength));
    return add(
        name, region, () -> new OwnedValue<>(this, name, codec, maxLength, region, nextNumber()));
  }

  /**
   * Makes a broadcast, which clients read without a call.
   *
   * @param ringLength in bytes: a power of two from 4 KiB to 512 MiB. A message has at most a
   *     quarter of it.
   * @throws IllegalArgumentException if the name is not new, or a limit is exceeded.
   */
  public <T> Broadcast<T> broadcast(String name, Codec<T> codec, int ringLength) {
    if (!BroadcastDescriptor.isRingLength(ringLength)) {
      throw new IllegalArgumentException(
          "ringLength=" + ringLength + " is not a power of two from 4 KiB to 512 MiB");
    }
    checkNew(name);
    final OwnerMemory.Region region =
        memory.grow(name, BroadcastDescriptor.memoryLength(ringLength));
    return add(
        name, region, () -> new Broadcast<>(this, name, codec, ringLength, region, nextNumber()));
  }

  /**
   * Makes a counter, at 0.
   *
   * @throws IllegalArgumentException if the name is not new.
   */
  public Counter counter(String name) {
    checkNew(name);
    return add(name, null, () -> new Counter(this, name));
  }

  /**
   * Makes a lock, which is free.
   *
   * @throws IllegalArgumentException if the name is not new.
   */
  public OwnerLock lock(String name) {
    checkNew(name);
    return add(name, null, () -> new OwnerLock(this, name, lockBudget, nextNumber()));
  }

  private void checkNew(String name) {
    if (!isName(name)) {
      throw new IllegalArgumentException(
          "name has not 1 to " + MAX_NAME_LENGTH + " characters: length=" + name.length());
    }
    checkOpen(name);
    if (names.containsKey(name)) {
      throw new IllegalArgumentException("name is taken: name=" + name);
    }
  }

  private void checkOpen(String name) {
    if (closed) {
      throw new IllegalStateException("the regions are closed: name=" + name);
    }
  }

  static boolean isName(String name) {
    return !name.isEmpty() && name.length() <= MAX_NAME_LENGTH;
  }

  /** Makes what has a name; closes its memory if that fails. */
  private <T extends Owned> T add(
      String name, OwnerMemory.@Nullable Region region, Supplier<T> constructor) {
    T owned = null;
    boolean isAdded = false;
    try {
      owned = constructor.get();
      if (names.putIfAbsent(name, owned) != null) {
        throw new IllegalArgumentException("name is taken: name=" + name);
      }
      checkOpen(name); // else closing may have overlooked it
      isAdded = true;
      return owned;
    } finally {
      if (!isAdded) {
        if (owned != null) {
          names.remove(name, owned);
        }
        if (region != null) {
          region.close();
        }
      }
    }
  }

  /**
   * Finds what has a name.
   *
   * @throws StatusRuntimeException NOT_FOUND, or FAILED_PRECONDITION if it is of another kind.
   */
  <T extends Owned> T find(String name, Class<T> kind) {
    final Owned owned = names.get(name);
    if (owned == null) {
      throw notFound(isName(name) ? name : "");
    }
    if (!kind.isInstance(owned)) {
      throw Status.FAILED_PRECONDITION
          .withDescription(
              "name is of another kind: name="
                  + name
                  + " kind="
                  + owned.getClass().getSimpleName()
                  + " asked for="
                  + kind.getSimpleName())
          .asRuntimeException();
    }
    return kind.cast(owned);
  }

  static StatusRuntimeException notFound(String name) {
    return Status.NOT_FOUND.withDescription("no such name: name=" + name).asRuntimeException();
  }

  /** Takes a name back; false if that was done before. */
  boolean forget(String name, Owned owned) {
    return names.remove(name, owned);
  }

  /** The thread that answers calls which have waited. */
  Executor answers() {
    return answers;
  }

  /**
   * Takes all names back, ends the calls of clients that are attached or wait, and gives the memory
   * back. No thread may set or publish any more. Idempotent.
   */
  @Override
  public void close() {
    closed = true;
    names.values().forEach(Owned::close);
    service.close();
    memory.close();
    answers.shutdown();
  }
}
