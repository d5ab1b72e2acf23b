package dev.ringfetch.index.grant;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.GatesDescriptor;
import dev.ringfetch.index.replication.GroupGate;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The gates of a node's groups, in domains of their own that clients may only read: one for each
 * fabric over which index memory is shown. A domain's gate is that of the node's process.
 *
 * <p>Safe for use by many threads.
 */
public final class NodeGates implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(NodeGates.class.getName());

  private final long node;
  private final long process;
  private final long epoch;
  private final List<Shown> shown = new ArrayList<>();
  private final MemoryRegion words;

  @GuardedBy("this")
  private final Map<Long, Gate> gates = new HashMap<>();

  @GuardedBy("this")
  private final BitSet taken = new BitSet();

  /**
   * The gates in a domain of one fabric.
   *
   * @param segment with the words
   */
  public record Shown(Fabric fabric, Domain domain, DomainSegment segment) {}

  /**
   * Creates the gates, all closed.
   *
   * @param node id of the node
   * @param process incarnation of the node
   * @param epoch that the page names when the node serves
   * @param fabrics over which clients read, the preferred one first
   * @param page of a data directory's gate; null: there is none
   */
  public NodeGates(
      long node, long process, long epoch, List<Fabric> fabrics, @Nullable GatePage page) {
    this.node = node;
    this.process = process;
    this.epoch = epoch;
    MemoryRegion first = null;
    for (final Fabric fabric : fabrics) {
      try {
        final Domain domain = fabric.openDomain(context(page));
        shown.add(show(fabric, domain, first));
        first = shown.get(0).segment.region();
      } catch (IOException e) {
        LOGGER.log(Level.INFO, "no direct reads over " + fabric.name() + ": " + e.getMessage());
      }
    }
    if (page == null && first != null) { // the domain has one of its own, which nobody else moves
      shown.get(0).domain.gate().move(epoch);
    }
    words = first == null ? new DirectRegion(GatesDescriptor.LENGTH) : first;
    words.putLongRelease(GatesDescriptor.MAGIC_OFFSET, GatesDescriptor.MAGIC);
    taken.set(0); // not a place
  }

  private DomainContext context(GatePage page) {
    final DomainContext context = new DomainContext().memoryLimit(GatesDescriptor.LENGTH);
    final GatePage same = shown.isEmpty() ? page : shown.get(0).domain.gate();
    return same == null ? context : context.gate(same, epoch);
  }

  private static Shown show(Fabric fabric, Domain domain, MemoryRegion first) throws IOException {
    boolean done = false;
    try {
      final DomainSegment segment =
          first == null ? domain.grow(GatesDescriptor.LENGTH) : domain.adopt(first);
      done = true;
      return new Shown(fabric, domain, segment);
    } finally {
      if (!done) {
        domain.close();
      }
    }
  }

  /** Whether these are the gates of a process of a node. */
  public boolean isOf(long otherNode, long incarnation) {
    return otherNode == node && incarnation == process;
  }

  /** The domains that show the gates, the preferred one first. */
  public List<Shown> shown() {
    return shown;
  }

  /** Opens the gate of a group, in the place of one that it had; closed until it is moved. */
  public synchronized GroupGate open(long group) {
    final Gate before = gates.get(group);
    if (before != null) {
      before.end();
    }
    final int place = taken.nextClearBit(1);
    if (place > GatesDescriptor.PLACES) {
      LOGGER.log(
          Level.WARNING, "no direct reads: too many groups: limit=" + GatesDescriptor.PLACES);
      return GroupGate.NONE;
    }
    taken.set(place);
    final Gate gate = new Gate(group, place);
    gates.put(group, gate);
    return gate;
  }

  /** The place of a group's gate; 0: it has none. */
  public synchronized int place(long group) {
    final Gate gate = gates.get(group);
    return gate == null ? 0 : gate.place;
  }

  /** Ends all grants. The words stay as they are: readers see the ends of their admissions. */
  @Override
  public void close() {
    for (int i = shown.size() - 1; i >= 0; i--) { // the one that made the memory comes last
      shown.get(i).domain.close();
    }
  }

  /** The gate of one group. */
  private final class Gate implements GroupGate {
    private final long group;
    private final int place;

    @GuardedBy("NodeGates.this")
    private long last;

    @GuardedBy("NodeGates.this")
    private boolean ended;

    Gate(long group, int place) {
      this.group = group;
      this.place = place;
    }

    @Override
    public void move(long epoch) {
      synchronized (NodeGates.this) {
        last = epoch;
        store(epoch);
      }
    }

    @Override
    public void end() {
      synchronized (NodeGates.this) {
        if (!ended) {
          store(-last);
          ended = true;
          taken.clear(place);
          gates.remove(group, this);
        }
      }
    }

    @GuardedBy("NodeGates.this")
    private void store(long word) {
      if (ended) { // the place is another one's
        return;
      }
      words.putLongRelease(GatesDescriptor.word(place), word);
      words.fullFence(); // what this replica does then comes after it, for all readers
    }
  }
}
