package dev.ringfetch.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.ByteString;
import dev.ringfetch.memory.v1.GetResponse;
import dev.ringfetch.rpc.Experimental;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * A value that this process sets, and any number of clients read: each read is of one value as it
 * was set, and never of an older one than the reader has seen before.
 *
 * <p>One thread at a time sets values. Closing takes the name back; readers then get NOT_FOUND.
 *
 * @param <T> type of the value.
 */
@Experimental
public final class OwnedValue<T> implements Owned {
  private static final Logger LOGGER = System.getLogger(OwnedValue.class.getName());

  private final Regions regions;
  private final String name;
  private final Codec<T> codec;
  private final int maxLength;
  private final OwnerMemory.Region region;
  private final ValueWriter writer;
  private final Executor answers;

  @GuardedBy("waiters")
  private final List<Waiter> waiters = new ArrayList<>();

  private volatile boolean awaited;
  private volatile boolean closed; // set with the waiters' monitor held

  /** Whether a wake-up is due that has not begun: there is one at a time. */
  private final AtomicBoolean isWakeDue = new AtomicBoolean();

  /** A call that waits for a version after another one. */
  interface Waiter extends Waiting {
    /** The version after which it is answered. */
    long after();

    /** A version after that has come. Called once at most, as {@link #refuse}. */
    void answer(GetResponse value);

    /** The value cannot be read, or the name was taken back. */
    void refuse(StatusRuntimeException reason);
  }

  OwnedValue(
      Regions regions,
      String name,
      Codec<T> codec,
      int maxLength,
      OwnerMemory.Region region,
      long version) {
    this.regions = regions;
    this.name = name;
    this.codec = codec;
    this.maxLength = maxLength;
    this.region = region;
    this.answers = regions.answers();
    this.writer = new ValueWriter(region.memory(), maxLength, version);
  }

  /**
   * Sets the value.
   *
   * @return its version.
   * @throws IllegalArgumentException if it is longer than the value's limit.
   * @throws IllegalStateException after {@link #close()}.
   */
  public long set(T value) {
    if (closed) {
      throw new IllegalStateException("the value is closed: name=" + name);
    }
    final ByteBuffer buffer = writer.buffer();
    try {
      codec.encode(value, buffer);
    } catch (BufferOverflowException e) {
      throw new IllegalArgumentException(
          "value is too long: name=" + name + " maxLength=" + maxLength, e);
    }
    writer.write();
    region.memory().fullFence(); // a call that waits sees this version, or is seen here
    if (awaited && isWakeDue.compareAndSet(false, true)) {
      try {
        answers.execute(this::wake);
      } catch (RuntimeException | Error e) { // the error of another region's page may come up here
        isWakeDue.set(false);
        throw e;
      }
    }
    return writer.version();
  }

  /**
   * Reads the value.
   *
   * @throws StatusRuntimeException NOT_FOUND after {@link #close()}, UNAVAILABLE if it is set too
   *     often for a copy, DATA_LOSS if another process has truncated the memory.
   */
  GetResponse read() {
    final ValueImage image = new ValueImage(maxLength);
    if (!region.read(image::read)) {
      throw Status.UNAVAILABLE
          .withDescription("value is set too often to be read: name=" + name)
          .asRuntimeException();
    }
    return GetResponse.newBuilder()
        .setVersion(image.version())
        .setValue(image.version() == 0 ? ByteString.EMPTY : ByteString.copyFrom(image.value()))
        .build();
  }

  /** The present version; beyond all others if the memory is lost: a read tells why. */
  private long version() {
    try {
      return region.read(
          reads -> {
            final long version = reads.load(ValueDescriptor.VERSION_OFFSET);
            reads.verify();
            return version;
          });
    } catch (StatusRuntimeException e) {
      return Long.MAX_VALUE;
    }
  }

  /**
   * Adds a waiter.
   *
   * @throws StatusRuntimeException NOT_FOUND after {@link #close()}, RESOURCE_EXHAUSTED if there
   *     are too many.
   */
  void await(Waiter waiter) {
    synchronized (waiters) {
      if (closed) {
        throw Regions.notFound(name);
      }
      Waiting.checkRoom(name, waiters, waiter);
      waiters.add(waiter);
      awaited = true;
    }
    region.memory().fullFence(); // the writer sees that it is awaited, or its version is seen here
    if (version() > waiter.after()) {
      wake();
    }
  }

  /** Removes a waiter, if it still waits. */
  void forget(Waiter waiter) {
    synchronized (waiters) {
      waiters.remove(waiter);
      awaited = !waiters.isEmpty();
    }
  }

  /** Answers the calls that wait for a version before the present one. */
  private void wake() {
    isWakeDue.set(false); // a value that is set from here on makes another one due
    final long version = version();
    final List<Waiter> ready = new ArrayList<>();
    synchronized (waiters) {
      for (final Waiter waiter : waiters) {
        if (waiter.after() < version) {
          ready.add(waiter);
        }
      }
      waiters.removeAll(ready);
      awaited = !waiters.isEmpty();
    }
    if (ready.isEmpty()) {
      return;
    }
    try {
      final GetResponse value = read();
      tell(ready, waiter -> waiter.answer(value));
    } catch (StatusRuntimeException e) {
      tell(ready, waiter -> waiter.refuse(e));
    }
  }

  /** Tells each of the waiters, whatever becomes of the others. */
  private void tell(List<Waiter> told, Consumer<Waiter> what) {
    for (final Waiter waiter : told) {
      try {
        what.accept(waiter);
      } catch (RuntimeException e) { // its call has ended meanwhile
        LOGGER.log(Level.DEBUG, "call was not answered: name=" + name, e);
      }
    }
  }

  int maxLength() {
    return maxLength;
  }

  OwnerMemory.Region region() {
    return region;
  }

  /** Takes the name back, and the memory. No thread may set the value any more. Idempotent. */
  @Override
  public void close() {
    if (regions.forget(name, this)) {
      final List<Waiter> all;
      synchronized (waiters) {
        closed = true;
        all = List.copyOf(waiters);
        waiters.clear();
        awaited = false;
      }
      region.close(writer::close);
      tell(all, waiter -> waiter.refuse(Regions.notFound(name)));
    }
  }
}
