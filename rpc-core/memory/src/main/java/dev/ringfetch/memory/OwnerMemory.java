package dev.ringfetch.memory;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.MemoryRegion;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The domains in which clients read an owner's memory, one for each fabric. The first one makes the
 * memory of a name; the others show the same bytes. Where no fabric can, memory is the process's
 * own, and clients make calls.
 *
 * <p>Safe for use by many threads.
 */
final class OwnerMemory implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(OwnerMemory.class.getName());

  private final List<Shown> domains = new ArrayList<>();

  /** A domain with its fabric. */
  record Shown(Fabric fabric, Domain domain) {}

  /** A segment in the domain of a fabric. */
  record ShownSegment(Shown domain, DomainSegment segment) {}

  /** A read of a name's memory on behalf of a call. */
  @FunctionalInterface
  interface Reading<T, E extends Exception> {
    T read(RegionReads reads) throws LostMemoryException, E;
  }

  /** The memory of one name, and where it is shown. */
  static final class Region implements AutoCloseable {
    private final String name;
    private final MemoryRegion memory;
    private final List<ShownSegment> segments;
    private final RegionReads reads;
    private boolean closed;

    Region(String name, MemoryRegion memory, List<ShownSegment> segments) {
      this.name = name;
      this.memory = memory;
      this.segments = segments;
      this.reads = new MappedReads(memory, () -> !closed);
    }

    /** The memory, for its writer. */
    MemoryRegion memory() {
      return memory;
    }

    /**
     * Reads for a call; one at a time.
     *
     * @throws StatusRuntimeException NOT_FOUND after the name was taken back, DATA_LOSS if another
     *     process has truncated the memory.
     */
    synchronized <T, E extends Exception> T read(Reading<T, E> reading) throws E {
      try {
        if (!closed) {
          return reading.read(reads);
        }
      } catch (LostMemoryException e) { // closed, while it was read
      } catch (InternalError e) {
        reads.absorb(e);
        throw Status.DATA_LOSS
            .withDescription("another process has truncated the memory: name=" + name)
            .asRuntimeException();
      }
      throw Regions.notFound(name);
    }

    /** The segment in a domain; null if the memory is not shown there. */
    @Nullable DomainSegment segment(Domain domain) {
      for (final ShownSegment shown : segments) {
        if (shown.domain.domain == domain) {
          return shown.segment;
        }
      }
      return null;
    }

    /** Takes the name back: lets the writer tell readers, and gives the memory back. */
    synchronized void close(Runnable telling) {
      try {
        telling.run();
        memory.verify();
      } catch (InternalError e) { // another process has truncated the memory: nobody reads it
        reads.absorb(e);
      }
      close();
    }

    /** Gives the memory back; that which was made comes last. */
    @Override
    public synchronized void close() {
      closed = true;
      for (int i = segments.size() - 1; i >= 0; i--) {
        segments.get(i).segment.close();
      }
    }
  }

  /**
   * Opens domains.
   *
   * @param fabrics closed with this.
   */
  OwnerMemory(List<Fabric> fabrics) {
    for (final Fabric fabric : fabrics) {
      try {
        domains.add(new Shown(fabric, fabric.openDomain(new DomainContext())));
      } catch (IOException e) {
        LOGGER.log(Level.WARNING, "no reads over " + fabric.name() + ": " + e.getMessage());
        fabric.close();
      }
    }
  }

  /** The domains, in the order of preference. */
  List<Shown> domains() {
    return domains;
  }

  /** Makes zeroed memory, and shows it where that is possible. */
  Region grow(String name, int length) {
    final List<ShownSegment> segments = new ArrayList<>();
    MemoryRegion memory = null;
    for (final Shown shown : domains) {
      try {
        final DomainSegment segment =
            memory == null ? shown.domain.grow(length) : shown.domain.adopt(memory);
        segments.add(new ShownSegment(shown, segment));
        memory = memory == null ? segment.region() : memory;
      } catch (IOException e) {
        LOGGER.log(
            Level.WARNING,
            "no reads over " + shown.fabric.name() + ": name=" + name + ": " + e.getMessage());
      }
    }
    return new Region(name, memory == null ? new DirectRegion(length) : memory, segments);
  }

  @Override
  public void close() {
    for (int i = domains.size() - 1; i >= 0; i--) {
      domains.get(i).domain.close();
      domains.get(i).fabric.close();
    }
  }
}
