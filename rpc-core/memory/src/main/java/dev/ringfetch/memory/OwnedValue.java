package dev.ringfetch.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.rpc.Experimental;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

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
  /** Calls that wait for a value at a time. */
  private static final int WAITER_LIMIT = 1024;

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

  /** A call that waits for a version after another one. */
  interface Waiter {
    /** The version after which it is answered. */
    long after();

    /** A version after that has come, or the name was taken back. */
    void wake();
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
   */
  public long set(T value) {
    final ByteBuffer buffer = writer.buffer();
    try {
      codec.encode(value, buffer);
    } catch (BufferOverflowException e) {
      throw new IllegalArgumentException(
          "value is too long: name=" + name + " maxLength=" + maxLength, e);
    }
    writer.write();
    region.memory().fullFence(); // a call that waits sees this version, or is seen here
    if (awaited) {
      answers.execute(this::wake);
    }
    return writer.version();
  }

  /** Adds a waiter; false if there are too many. The caller looks at the version once more. */
  boolean await(Waiter waiter) {
    synchronized (waiters) {
      if (waiters.size() >= WAITER_LIMIT) {
        return false;
      }
      waiters.add(waiter);
      awaited = true;
      return true;
    }
  }

  /** Removes a waiter; false if it was woken before. */
  boolean forget(Waiter waiter) {
    synchronized (waiters) {
      final boolean waited = waiters.remove(waiter);
      awaited = !waiters.isEmpty();
      return waited;
    }
  }

  /** Answers the calls that wait for a version before the present one. */
  void wake() {
    final long version;
    try {
      synchronized (region) {
        version = region.reads().load(ValueDescriptor.VERSION_OFFSET);
      }
    } catch (LostMemoryException e) {
      return; // closing has woken all
    }
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
    ready.forEach(Waiter::wake);
  }

  String name() {
    return name;
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
        all = List.copyOf(waiters);
        waiters.clear();
        awaited = false;
      }
      writer.close();
      region.close();
      all.forEach(Waiter::wake);
    }
  }
}
