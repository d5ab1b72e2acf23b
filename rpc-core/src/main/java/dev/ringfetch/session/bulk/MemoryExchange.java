package dev.ringfetch.session.bulk;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.session.owner.OwnedBy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The exchange of registered memory between the two sides of a session: each offers the memory that
 * its {@link BulkPool} has registered, and attaches the memory that the other offers. Where the
 * peer's memory is not loaded from, the first attachment takes memory for the {@link ReadWindow}.
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
  private final ReadWindow window;
  private final MemoryQuota quota;
  private final boolean reachable; // each side's memory, by the other
  private final List<AttachedMemory> attached = new ArrayList<>();

  private int offers; // of the peer
  private long attachedLength; // bytes
  private long reserved; // of the quota, bytes

  /** Creates the exchange; nothing is offered yet. */
  public MemoryExchange(BulkOwner owner, BulkPool pool, BulkPath path, MemoryQuota quota) {
    this.owner = owner;
    this.pool = pool;
    this.queuePair = path.queuePair();
    this.window = path.window();
    this.reachable = path.isOpen();
    this.quota = quota;
  }

  /** How often the peer has offered memory. */
  public int offers() {
    return offers;
  }

  /** Memory of the peer that is attached, by its number: the order of the offers. */
  public List<AttachedMemory> attached() {
    return attached;
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
   * calls: once for some megabytes, or once to register the window.
   */
  private boolean attach(byte[] descriptor) {
    try {
      final int left = (int) (MAX_ATTACHED_LENGTH - attachedLength);
      final AttachedMemory memory =
          queuePair.capabilities().loadStore()
              ? new AttachedMemory(queuePair.attach(descriptor, left), null)
              : read(descriptor, left);
      attached.add(memory);
      attachedLength += memory.length();
      return true;
    } catch (IOException e) {
      System.getLogger(MemoryExchange.class.getName())
          .log(System.Logger.Level.DEBUG, "the peer's memory cannot be attached", e);
      return false;
    }
  }

  private AttachedMemory read(byte[] descriptor, int left) throws IOException {
    openWindow();
    return new AttachedMemory(null, queuePair.attachRemote(descriptor, left));
  }

  private void openWindow() throws IOException {
    if (reserved > 0) {
      return;
    }
    if (!quota.reserve(ReadWindow.LENGTH)) {
      pool.countRefusal();
      throw new IOException("the budget is used up: length=" + ReadWindow.LENGTH);
    }
    boolean opened = false;
    try {
      window.open();
      opened = true;
      reserved = ReadWindow.LENGTH;
    } finally {
      if (!opened) {
        quota.release(ReadWindow.LENGTH);
        pool.countRefusal();
      }
    }
  }

  /** Gives back what the window has taken of the quota, when the session has ended. Idempotent. */
  public void close() {
    quota.release(reserved);
    reserved = 0;
  }
}
