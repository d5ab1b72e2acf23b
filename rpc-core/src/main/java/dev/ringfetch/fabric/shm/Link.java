package dev.ringfetch.fabric.shm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.QueuePair;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The socket between two sides: a byte is a ring, the end of the stream is the end of the peer.
 *
 * <p>The end of the stream also says that no thread of the sender is inside the memory any more, so
 * neither side ends the stream before its close. The owner of the memory, when closed first, only
 * ends its half and waits for the peer's: pages must not be freed while the peer may use them. That
 * wait needs the doorbell to be polled; if it is closed instead, the pages go with the last
 * mapping.
 *
 * <pre>
 *   OPEN  -- the peer ends, or
 *            cannot be rung -----> ENDED  (listener told)
 *   OPEN, ENDED  -- close -------> CLOSED, or CLOSING at an owner whose peer has not ended
 *   CLOSING  -- the peer ends ---> CLOSED  (pages given back)
 * </pre>
 *
 * <p>{@link #onReady} belongs to the thread that owns the doorbell, everything else may be called
 * from any thread. No listener is called with the lock held.
 */
final class Link implements Selectable {
  private static final Logger LOGGER = System.getLogger(Link.class.getName());

  /** A peer that rings more often than this at a time is muted: one ring is enough. */
  private static final int MUTE_RINGS = 64;

  private static final long MUTE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** State of a link. */
  private enum State {
    /** Rings go both ways. */
    OPEN,
    /** The peer is gone, or cannot be rung; the listener knows. */
    ENDED,
    /** This side is out; the peer may still use the memory. */
    CLOSING,
    /** The files are closed. */
    CLOSED;

    /** True if this side has left the memory. */
    boolean isClosed() {
      return this == CLOSING || this == CLOSED;
    }
  }

  private final ShmDoorbell doorbell;
  private final SocketChannel channel;
  private final SelectionKey key;

  /** Files of memory that this side owns. */
  @GuardedBy("lock")
  private final List<SessionFile> files = new ArrayList<>(1);

  private final AtomicInteger ringers = new AtomicInteger();

  /** Owned by the thread that raised {@link #ringers} from zero. */
  private final ByteBuffer ring = ByteBuffer.allocateDirect(1);

  /** Guards every change of the state, and the key against a doorbell that closes. */
  private final ReentrantLock lock = new ReentrantLock();

  private volatile State state = State.OPEN;

  @GuardedBy("lock")
  private boolean peerGone;

  private volatile IOException broken; // by a ring that could not be sent
  private volatile QueuePair.Listener listener;

  // Of the thread that owns the doorbell.
  private boolean isMuted;
  private long mutedUntilNs;
  Link nextMuted; // in the list of muted links

  /**
   * Takes over a connected, authenticated channel, registered with the doorbell without interest.
   */
  Link(ShmDoorbell doorbell, SocketChannel channel, SelectionKey key) {
    this.doorbell = doorbell;
    this.channel = channel;
    this.key = key;
  }

  /**
   * Takes over memory of this side: its pages go when both sides are out of it.
   *
   * @return false when the connection has ended, and the file is still the caller's.
   */
  boolean own(SessionFile file) {
    lock.lock();
    try {
      if (state != State.OPEN) {
        return false;
      }
      files.add(file);
      return true;
    } finally {
      lock.unlock();
    }
  }

  boolean isOpen() {
    return state == State.OPEN;
  }

  void bind(QueuePair.Listener listener) {
    lock.lock();
    try {
      if (this.listener != null) {
        throw new IllegalStateException("bound twice: listener=" + listener);
      }
      this.listener = listener;
      if (state == State.OPEN) {
        listen();
      }
    } finally {
      lock.unlock();
    }
    doorbell.wakeup();
  }

  /**
   * Registers interest. If the socket is broken, it is registered for writing, which makes it
   * ready, and reports the break, at once.
   */
  @GuardedBy("lock")
  private void listen() {
    key.interestOps(
        broken == null ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
  }

  /**
   * Sends a byte, or nothing where the socket is full of rings that the peer has not consumed yet.
   * If several threads ring at the same time, one of them does it for all, and once more for those
   * that came meanwhile.
   */
  void ring() {
    if (state != State.OPEN || ringers.getAndIncrement() != 0) {
      return;
    }
    int rung = 1;
    do {
      try {
        sendByte();
      } catch (Throwable t) { // or no thread would ever ring again
        ringers.set(0);
        throw t;
      }
      rung = ringers.addAndGet(-rung);
    } while (rung != 0);
  }

  private void sendByte() {
    ring.clear();
    try {
      channel.write(ring);
    } catch (IOException e) { // most often the peer is gone
      breakOff(e);
    }
  }

  /**
   * Ends the link after a failed ring: no second ring would follow, so the peer might sleep
   * forever.
   */
  private void breakOff(IOException cause) {
    lock.lock();
    try {
      if (state == State.OPEN && broken == null) {
        broken = cause;
        if (listener != null) {
          listen();
        }
      }
    } finally {
      lock.unlock();
    }
    doorbell.wakeup();
  }

  @Override
  public int onReady() {
    String reason;
    try {
      final int rings = channel.read(doorbell.drain());
      final IOException cause = broken;
      if (rings == 0 && cause != null) { // there is nothing to hear, and no end of the peer's
        return end("the connection to the peer broke: " + cause.getMessage(), false);
      }
      if (rings >= 0) {
        if (rings > MUTE_RINGS) {
          mute();
        }
        return rings > 0 && state == State.OPEN ? tellRing() : 0;
      }
      reason = "the peer has closed the connection or died";
    } catch (IOException e) {
      reason = "the connection to the peer broke: " + e.getMessage();
    }
    return end(reason, true);
  }

  /** Stops listening for a while; the end of the stream, too, is noticed only after it. */
  private void mute() {
    lock.lock();
    try {
      if (state == State.OPEN && !isMuted) {
        isMuted = true;
        mutedUntilNs = System.nanoTime() + MUTE_NS;
        key.interestOps(0);
        doorbell.addMuted(this);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Listens again. */
  void unmute() {
    lock.lock();
    try {
      isMuted = false;
      if (state == State.OPEN) {
        listen();
      }
    } finally {
      lock.unlock();
    }
  }

  long mutedUntilNs() {
    return mutedUntilNs;
  }

  private int tellRing() {
    try {
      listener.onDoorbell();
    } catch (Throwable e) {
      ShmDoorbell.report(e);
      end("the listener failed: " + e, false);
    }
    return 1;
  }

  private int end(String reason, boolean isPeerGone) {
    lock.lock();
    try {
      peerGone |= isPeerGone;
      if (state == State.CLOSING && peerGone) {
        finish(true);
      }
      if (state.isClosed()) {
        return 0;
      }
      // A stream that has ended is not read any more: its end stays ready forever.
      key.interestOps(0);
      if (state == State.ENDED) {
        return 0;
      }
      state = State.ENDED;
    } finally {
      lock.unlock();
    }
    try {
      listener.onDisconnected(reason);
    } catch (Throwable e) {
      ShmDoorbell.report(e);
    }
    return 1;
  }

  /** Ends this side. The caller's threads must not use the memory any more. Idempotent. */
  void close() {
    lock.lock();
    try {
      if (state.isClosed()) {
        return;
      }
      if (files.isEmpty() || peerGone) {
        finish(true);
      } else {
        state = State.CLOSING;
        shutdownOutput();
        key.interestOps(SelectionKey.OP_READ);
        doorbell.wakeup();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends this side because its doorbell closes. Only a side that was closed before is known not to
   * use the memory, and the peer's end will not be noticed later: where it is not known by now, the
   * pages are not returned early.
   */
  void abandon() {
    lock.lock();
    try {
      if (state != State.CLOSED) {
        finish(state == State.CLOSING && isAtEnd());
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean isAtEnd() {
    final ByteBuffer buffer = ByteBuffer.allocate(ShmDoorbell.DRAIN_LENGTH);
    try {
      int rings;
      do {
        rings = channel.read(buffer.clear());
      } while (rings > 0);
      return rings < 0;
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "the connection broke: {0}", e.toString());
      return true;
    }
  }

  /** Closes what belongs to the link. */
  @GuardedBy("lock")
  private void finish(boolean isNobodyInside) {
    state = State.CLOSED;
    shutdownOutput();
    Cleanup.close(channel);
    for (final SessionFile file : files) {
      file.unlink(); // if the peer never confirmed that it has the file
      if (isNobodyInside) {
        file.truncate();
      }
      file.close();
    }
    doorbell.remove(this);
  }

  /** Lets the peer see the end now; a closed channel may wait for its selector first. */
  private void shutdownOutput() {
    try {
      channel.shutdownOutput();
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "the peer was gone already: {0}", e.toString());
    }
  }
}
