package dev.ringfetch.session.bulk;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.session.owner.OwnedBy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The exchange of registered memory between the two sides of a session: each offers the memory that
 * its {@link BulkPool} has registered, and attaches the memory that the other offers.
 */
@OwnedBy("session")
public final class MemoryExchange {
  /** How often a peer may offer memory. */
  public static final int MAX_OFFERS = 16;

  /** Memory of the peer that is attached at the most, in bytes. */
  static final int MAX_ATTACHED_LENGTH = 64 * 1024 * 1024;

  private static final int ATTACHED = 1;
  private static final int REFUSED = 2;

  private final BulkOwner owner;
  private final BulkPool pool;
  private final QueuePair queuePair;
  private final boolean reachable; // each side's memory, by the other
  private final List<MemoryRegion> regions = new ArrayList<>();

  private int offers; // of the peer
  private int attachedLength; // bytes

  /** Creates the exchange; nothing is offered yet. */
  public MemoryExchange(BulkOwner owner, BulkPool pool, QueuePair queuePair) {
    this.owner = owner;
    this.pool = pool;
    this.queuePair = queuePair;
    this.reachable = queuePair.capabilities().loadStore();
  }

  /** How often the peer has offered memory. */
  public int offers() {
    return offers;
  }

  /** Memory of the peer that is attached, by its number: the order of the offers. */
  public List<MemoryRegion> regions() {
    return regions;
  }

  /** Offers the peer what the pool has registered, if there is something new. */
  public void offer() {
    final byte[] descriptor = pool.takeOffer(owner.maxPayload());
    if (descriptor != null) {
      owner.sendOffer(descriptor);
    }
  }

  /**
   * Handles an offer of the peer, or its answer to one. False when it is invalid, or one too many.
   */
  public boolean onFrame(int code, MemoryRegion region, int offset, int length) {
    if (!reachable) {
      return false; // neither side can reach it, and both know
    }
    if (length == 0) {
      return (code == ATTACHED || code == REFUSED) && pool.onAnswer(code == ATTACHED);
    }
    if (++offers > MAX_OFFERS) {
      return false;
    }
    final byte[] descriptor = new byte[length];
    region.getBytes(offset, descriptor, 0, length);
    final int answer = attach(descriptor) ? ATTACHED : REFUSED;
    owner.sendAnswer(answer);
    return true;
  }

  /**
   * Attaches memory that the peer has registered. One of the few places where an owner makes system
   * calls: once for some megabytes.
   */
  private boolean attach(byte[] descriptor) {
    try {
      final MemoryRegion region =
          queuePair.attach(descriptor, MAX_ATTACHED_LENGTH - attachedLength);
      regions.add(region);
      attachedLength += region.length();
      return true;
    } catch (IOException e) {
      System.getLogger(MemoryExchange.class.getName())
          .log(System.Logger.Level.DEBUG, "the peer's memory cannot be attached", e);
      return false;
    }
  }
}
