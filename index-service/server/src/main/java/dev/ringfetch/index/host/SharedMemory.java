package dev.ringfetch.index.host;

import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.MemoryRegion;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The domain of one fabric in which peers reach index memory, with its segments. The first domain
 * of a server makes the memory; others show the same bytes.
 *
 * <p>Safe for use by many threads; one at a time adds segments.
 */
public final class SharedMemory implements AutoCloseable {
  private final Fabric fabric;
  private final Domain domain;
  private final List<DomainSegment> segments = new CopyOnWriteArrayList<>();

  /** Opens a domain; the fabric is closed with this, but not if this throws. */
  public SharedMemory(Fabric fabric, DomainContext context) throws IOException {
    this.fabric = fabric;
    this.domain = fabric.openDomain(context);
  }

  public Fabric fabric() {
    return fabric;
  }

  public Domain domain() {
    return domain;
  }

  /** The segments, in the order of their numbers. */
  public List<DomainSegment> segments() {
    return segments;
  }

  /** Makes memory. */
  public MemoryRegion grow(int length) throws IOException {
    final DomainSegment segment = domain.grow(length);
    segments.add(segment);
    return segment.region();
  }

  /** Shows memory that another domain has made. */
  public void adopt(MemoryRegion memory) throws IOException {
    segments.add(domain.adopt(memory));
  }

  @Override
  public void close() {
    domain.close();
    fabric.close();
  }

  @Override
  public String toString() {
    return domain.toString();
  }
}
