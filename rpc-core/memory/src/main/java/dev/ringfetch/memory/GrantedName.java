package dev.ringfetch.memory;

import dev.ringfetch.memory.v1.GrantRequest;
import dev.ringfetch.memory.v1.GrantResponse;
import dev.ringfetch.memory.v1.Kind;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The grant of one name to a reader: asks for it when the client is attached, and again when the
 * attachment is another one. After a refusal the next request waits, twice as long each time.
 *
 * <p>Used by one thread at a time.
 */
final class GrantedName {
  private static final long FIRST_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long LAST_DELAY_NS = TimeUnit.SECONDS.toNanos(10);

  private final Memory memory;
  private final String name;
  private final Kind kind;
  private @Nullable AttachedDomain domain; // of the reads
  private @Nullable RegionReads reads;
  private int capacity;
  private long owner;
  private long nextNs = System.nanoTime();
  private long delayNs = FIRST_DELAY_NS;
  private String obstacle = "not asked for yet";

  GrantedName(Memory memory, String name, Kind kind) {
    this.memory = memory;
    this.name = name;
    this.kind = kind;
  }

  /** Reads of the name's memory; null while they go by calls. */
  @Nullable RegionReads reads() {
    return reads != null ? reads : reads(memory.endNs());
  }

  /** As {@link #reads()}, with a request that ends at a time if one is due. */
  @Nullable RegionReads reads(long endNs) {
    if (reads != null) {
      return reads;
    }
    final AttachedDomain attached = memory.attachment().domain();
    if (attached != null && (attached != domain || System.nanoTime() - nextNs >= 0)) {
      domain = attached;
      request(attached, endNs);
    }
    return reads;
  }

  private void request(AttachedDomain attached, long endNs) {
    try {
      final GrantResponse grant =
          memory
              .stub(endNs)
              .grant(
                  GrantRequest.newBuilder()
                      .setName(name)
                      .setKind(kind)
                      .setToken(attached.token())
                      .build());
      reads = attached.reads(grant, memoryLength(grant));
      capacity = grant.getCapacity();
      owner = grant.getOwner();
      delayNs = FIRST_DELAY_NS;
    } catch (StatusRuntimeException e) {
      if (System.nanoTime() - endNs >= 0) { // the caller's time was short: the next one asks again
        obstacle = "the grant has taken too long";
        return;
      }
      refused(e.getStatus().getCode() + ": " + e.getStatus().getDescription());
    } catch (IOException | RuntimeException e) { // RuntimeException: a bad descriptor
      refused(String.valueOf(e.getMessage()));
    }
  }

  private int memoryLength(GrantResponse grant) throws IOException {
    final int granted = grant.getCapacity();
    if (grant.getLayout() != MemoryService.LAYOUT) {
      throw new IOException("layout is unknown: version=" + grant.getLayout());
    }
    if (kind == Kind.BROADCAST && BroadcastDescriptor.isRingLength(granted)) {
      return BroadcastDescriptor.memoryLength(granted);
    }
    if (kind == Kind.VALUE && granted > 0 && granted <= ValueDescriptor.MAX_LENGTH) {
      return ValueDescriptor.memoryLength(granted);
    }
    throw new IOException("grant is malformed: capacity=" + granted);
  }

  private void refused(String reason) {
    obstacle = reason;
    nextNs = System.nanoTime() + delayNs;
    delayNs = Math.min(2 * delayNs, LAST_DELAY_NS);
  }

  /** The memory was lost, or cannot be read: reads go by calls for a while. */
  void lost(String reason) {
    if (reads != null) {
      domain.release(reads);
    }
    reads = null;
    refused(reason);
  }

  /** Longest value, or length of the ring, of the last grant. */
  int capacity() {
    return capacity;
  }

  /** Number of the broadcast of the last grant. */
  long owner() {
    return owner;
  }

  /** The reason why reads go by calls; null if they go by memory. */
  @Nullable String obstacle() {
    if (reads != null && domain.isOpen()) {
      return null;
    }
    final String attachment = memory.attachment().obstacle();
    return attachment != null ? attachment : obstacle;
  }
}
