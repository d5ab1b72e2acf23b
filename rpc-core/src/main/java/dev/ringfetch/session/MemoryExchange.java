package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.SESSION_STREAM_ID;

import dev.ringfetch.fabric.MemoryRegion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * How registered memory becomes common to both sides of a session: each offers what its {@link
 * BulkPool} has registered, and attaches what the other offers. Belongs to the owner of the
 * session.
 */
final class MemoryExchange {
  /** How often a peer may offer memory. */
  static final int MAX_OFFERS = 16;

  /** Memory of the peer that is attached at the most, in bytes. */
  static final int MAX_ATTACHED_LENGTH = 64 * 1024 * 1024;

  private static final int ATTACHED = 1;
  private static final int REFUSED = 2;

  private final Session session;
  private final List<MemoryRegion> regions = new ArrayList<>();

  private int offers; // of the peer
  private int attachedLength; // bytes

  MemoryExchange(Session session) {
    this.session = session;
  }

  /** How often the peer has offered memory. */
  int offers() {
    return offers;
  }

  /** Memory of the peer that is attached, by its number: the order of the offers. */
  List<MemoryRegion> regions() {
    return regions;
  }

  /** Offers the peer what the pool has registered, if there is something new. */
  void offer() {
    final byte[] descriptor = session.bulk.takeOffer(session.outbox.maxPayload());
    if (descriptor != null) {
      final Stream offer = session.notice(SESSION_STREAM_ID, BULK, 0);
      offer.headerOnly = false;
      offer.outbound().addBytes(descriptor, 0, descriptor.length);
      session.outbox.addUnsolicited(offer);
    }
  }

  /**
   * The peer offers memory that it has registered, or answers an offer. False when that is none, or
   * one too many.
   */
  boolean onFrame(int code, MemoryRegion region, int offset, int length) {
    if (!session.loadStore) {
      return false; // neither side can reach it, and both know
    }
    if (length == 0) {
      return (code == ATTACHED || code == REFUSED) && session.bulk.onAnswer(code == ATTACHED);
    }
    if (++offers > MAX_OFFERS) {
      return false;
    }
    final byte[] descriptor = new byte[length];
    region.getBytes(offset, descriptor, 0, length);
    final int answer = attach(descriptor) ? ATTACHED : REFUSED;
    session.outbox.addUnsolicited(session.notice(SESSION_STREAM_ID, BULK, answer));
    return true;
  }

  /**
   * Attaches what the peer has registered. One of the few places where an owner asks the system for
   * something: once for some megabytes.
   */
  private boolean attach(byte[] descriptor) {
    try {
      final MemoryRegion region =
          session.queuePair.attach(descriptor, MAX_ATTACHED_LENGTH - attachedLength);
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
