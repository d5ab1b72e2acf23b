package dev.ringfetch.index.host;

import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The domains in which peers reach index memory. The first one makes the memory; the others show
 * the same bytes over their fabrics, and one that cannot goes, with a warning in the log.
 *
 * <p>Safe for use by many threads; one at a time makes memory.
 */
public final class SharedDomains implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(SharedDomains.class.getName());

  private final List<SharedMemory> domains = new CopyOnWriteArrayList<>();

  /**
   * Opens the domains.
   *
   * @param fabrics the preferred one first; closed with this. If this throws, they are open
   * @param context of a domain with this gate; with null, the domain makes one
   * @param own gate; null: that of the first domain
   * @throws IOException if the first domain cannot be opened
   */
  public SharedDomains(
      List<Fabric> fabrics,
      Function<@Nullable GatePage, DomainContext> context,
      @Nullable GatePage own)
      throws IOException {
    domains.add(new SharedMemory(fabrics.get(0), context.apply(own)));
    for (final Fabric fabric : fabrics.subList(1, fabrics.size())) {
      try {
        domains.add(new SharedMemory(fabric, context.apply(gate())));
      } catch (IOException e) {
        LOGGER.log(Level.WARNING, "no direct reads over " + fabric.name() + ": " + e.getMessage());
        fabric.close();
      }
    }
  }

  /** The gate before the memory. */
  public GatePage gate() {
    return domains.get(0).domain().gate();
  }

  /** The domains, that which makes the memory first. */
  public List<SharedMemory> list() {
    return domains;
  }

  /** Makes memory, and shows it. */
  public MemoryRegion grow(int length) throws IOException {
    final SharedMemory first = domains.get(0);
    final MemoryRegion memory = first.grow(length);
    for (final SharedMemory other : List.copyOf(domains)) {
      try {
        if (other != first) {
          other.adopt(memory);
        }
      } catch (IOException | RuntimeException | OutOfMemoryError e) { // the segment itself is there
        LOGGER.log(Level.WARNING, "no more direct reads over " + other + ": " + e.getMessage());
        domains.remove(other);
        other.close();
      }
    }
    return memory;
  }

  /** Removes the memory of servers that were killed. */
  public void sweep() {
    domains.forEach(memory -> memory.fabric().sweep());
  }

  /** Gives the memory back; the domain that made it comes last. */
  @Override
  public void close() {
    for (int i = domains.size() - 1; i >= 0; i--) {
      domains.get(i).close();
    }
  }
}
