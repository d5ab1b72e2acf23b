package dev.ringfetch.memory;

import com.google.protobuf.ByteString;
import dev.ringfetch.memory.v1.GetRequest;
import dev.ringfetch.memory.v1.GetResponse;
import dev.ringfetch.memory.v1.Kind;
import dev.ringfetch.rpc.Experimental;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A reader of an owner's value: each value is whole, was the present one during the read, and is
 * never older than one that this reader has returned before.
 *
 * <p>Used by one thread at a time; further threads take readers of their own.
 *
 * @param <T> type of the value.
 */
@Experimental
public final class RemoteValue<T> {
  private final Memory memory;
  private final String name;
  private final Codec<T> codec;
  private final GrantedName grant;
  private @Nullable ValueImage image; // of the last grant
  private int capacity;
  private long seen;
  private long reads;

  RemoteValue(Memory memory, String name, Codec<T> codec) {
    this.memory = memory;
    this.name = name;
    this.codec = codec;
    this.grant = new GrantedName(memory, name, Kind.VALUE);
  }

  /**
   * Reads the value: from memory, without a call, if the client is attached.
   *
   * @return with version 0 if the owner has set none yet.
   */
  public Versioned<T> get() {
    final RegionReads granted = grant.reads();
    return granted != null && readMemory(granted) ? copied() : called(memory.endNs());
  }

  private Versioned<T> copied() {
    reads++;
    return result(image.version(), image.version() == 0 ? null : image.value());
  }

  private Versioned<T> called(long endNs) {
    return received(memory.stub(endNs).get(request().build()));
  }

  /** Reads memory; false if a call has to do it. */
  private boolean readMemory(RegionReads granted) {
    if (image == null || capacity != grant.capacity()) {
      capacity = grant.capacity();
      image = new ValueImage(capacity);
    }
    try {
      if (image.read(granted)) {
        if (image.version() == 0 || image.version() >= seen) { // 0: of an owner that has set none
          return true;
        }
        grant.lost("memory is older than what was read before: version=" + image.version());
      }
      return false; // the writer was too fast for a copy
    } catch (LostMemoryException | InternalError e) {
      if (e instanceof InternalError fault) {
        granted.absorb(fault);
      }
      grant.lost("memory was lost");
      return false;
    }
  }

  private GetRequest.Builder request() {
    return GetRequest.newBuilder().setName(name);
  }

  private Versioned<T> received(GetResponse response) {
    final ByteString bytes = response.getValue();
    return result(
        response.getVersion(),
        response.getVersion() == 0 ? null : ByteBuffer.wrap(bytes.toByteArray()));
  }

  private Versioned<T> result(long version, @Nullable ByteBuffer bytes) {
    if (bytes == null) {
      return new Versioned<>(null, 0);
    }
    if (version < seen) {
      throw Status.FAILED_PRECONDITION
          .withDescription(
              "another owner's clock is earlier: name="
                  + name
                  + " version="
                  + version
                  + " seen="
                  + seen)
          .asRuntimeException();
    }
    seen = version;
    final int length = bytes.remaining();
    try {
      return new Versioned<>(codec.decode(bytes.order(ByteOrder.LITTLE_ENDIAN)), version);
    } catch (RuntimeException e) {
      throw Status.DATA_LOSS
          .withDescription("value cannot be decoded: name=" + name + " length=" + length)
          .withCause(e)
          .asRuntimeException();
    }
  }

  /**
   * Waits for a value after a version: looks at memory for the {@linkplain MemoryContext#spinTime
   * spin time}, then makes a call, which the owner answers when it sets one. The first wait after
   * an attachment also connects to the owner's memory, which over a network takes some round trips.
   *
   * @return empty if none came in time.
   */
  public Optional<Versioned<T>> awaitAfter(long version, Duration timeout) {
    final long endNs = System.nanoTime() + timeout.toNanos();
    try {
      final RegionReads granted = grant.reads(endNs);
      if (granted != null && granted.isMapped() && isLater(granted, version, endNs)) {
        final Versioned<T> now = readMemory(granted) ? copied() : called(endNs);
        if (now.version() > version) {
          return Optional.of(now);
        }
      }
      return Optional.of(received(memory.stub(endNs).get(request().setAfter(version).build())));
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Spins; true if memory shows a later version, or is lost. */
  private boolean isLater(RegionReads granted, long version, long endNs) {
    try {
      return spin(granted, version, endNs);
    } catch (LostMemoryException | InternalError e) {
      if (e instanceof InternalError fault) {
        granted.absorb(fault);
      }
      return true; // the read finds out
    }
  }

  // The loop is in a method of its own: see MemoryRegion.verify().
  private boolean spin(RegionReads granted, long version, long endNs) throws LostMemoryException {
    final long startNs = System.nanoTime();
    final long spinNs = Math.min(memory.spinNs(), endNs - startNs);
    do {
      if (granted.load(ValueDescriptor.VERSION_OFFSET) > version) {
        return true;
      }
      Thread.onSpinWait();
    } while (System.nanoTime() - startNs < spinNs);
    granted.verify();
    return false;
  }

  /** How many values were read from memory, without a call. */
  public long directReads() {
    return reads;
  }

  /** Why reads go by calls; empty if they go by memory. */
  public Optional<String> obstacle() {
    return Optional.ofNullable(grant.obstacle());
  }
}
