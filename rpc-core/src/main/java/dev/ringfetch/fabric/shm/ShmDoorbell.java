package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.Doorbell;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The doorbell of shm: a selector over the sockets of one poller's queue pairs and, once memory was
 * offered, over the socket at which their peers arrive.
 *
 * <p>{@link #await} and {@link #poll} belong to one owner thread; everything else may be called
 * from any. A thread that owns the doorbell and is interrupted does not sleep in {@link #await}.
 */
final class ShmDoorbell implements Doorbell {
  /** Rings that one read takes from a socket; what is left makes it ready again. */
  static final int DRAIN_LENGTH = 512;

  private static final int FIRST_BATCH = 16;
  private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

  private final ShmFabric fabric;
  private final Selector selector;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();

  /** Guards the opening of {@link #arrivals} and the close. */
  private final ReentrantLock lock = new ReentrantLock();

  private volatile Arrivals arrivals;
  private volatile boolean closed;

  // Linked list of muted links, in the order in which they are unmuted. Owned by the owner thread.
  private Link firstMuted;
  private Link lastMuted;

  /** Copy of the selected keys, of the owner thread; null while an outer call uses it. */
  private SelectionKey[] batch;

  /** Buffer that rings are read into, of the owner thread. */
  private final ByteBuffer drain = ByteBuffer.allocateDirect(DRAIN_LENGTH);

  ShmDoorbell(ShmFabric fabric) throws IOException {
    this.fabric = fabric;
    this.selector = Selector.open();
  }

  ShmFabric fabric() {
    return fabric;
  }

  /**
   * Returns the buffer for rings, which are only counted. For the owner thread, until it reads
   * again.
   */
  ByteBuffer drain() {
    return drain.clear();
  }

  /** Passes an exception of a listener to the thread's handler, so that it affects nothing else. */
  static void report(Throwable failure) {
    final Thread thread = Thread.currentThread();
    thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
  }

  @Override
  public int await(long timeoutNs) throws IOException {
    final Arrivals arrivals = this.arrivals;
    long limitNs = arrivals == null ? timeoutNs : Math.min(timeoutNs, arrivals.dueInNs());
    if (firstMuted != null) {
      limitNs = Math.min(limitNs, firstMuted.mutedUntilNs() - System.nanoTime());
    }
    if (limitNs <= 0) {
      return poll();
    }
    checkOpen();
    try {
      if (limitNs == FOREVER) {
        selector.select();
      } else {
        // Rounded up: a poller that wakes a little early would spin through the rest.
        final long timeoutMs = limitNs / NS_PER_MS + (limitNs % NS_PER_MS == 0 ? 0 : 1);
        selector.select(timeoutMs);
      }
      return dispatch();
    } catch (ClosedSelectorException | CancelledKeyException e) {
      // Closed by another thread meanwhile: the next call throws.
      return 0;
    }
  }

  @Override
  public int poll() throws IOException {
    checkOpen();
    try {
      selector.selectNow();
      return dispatch();
    } catch (ClosedSelectorException | CancelledKeyException e) {
      return 0;
    }
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException("the doorbell is closed");
    }
  }

  private int dispatch() {
    int events = 0;
    final Set<SelectionKey> selected = selector.selectedKeys();
    if (!selected.isEmpty()) {
      // A listener may poll, too, and so change the selected keys: they are copied and cleared
      // first. An inner call finds no batch and allocates its own.
      SelectionKey[] keys = batch;
      batch = null;
      final int count;
      // The lock that the selector asks for: a close in another thread empties the set.
      synchronized (selected) {
        count = selected.size();
        if (keys == null || keys.length < count) {
          keys = new SelectionKey[Math.max(FIRST_BATCH, 2 * count)];
        }
        keys = selected.toArray(keys);
        selected.clear();
      }
      for (int i = 0; i < count; i++) {
        events += ((Selectable) keys[i].attachment()).onReady();
        keys[i] = null;
      }
      batch = keys;
    }
    final Arrivals arrivals = this.arrivals;
    if (arrivals != null) {
      arrivals.onTime();
    }
    unmute();
    return events;
  }

  /** Listens to a link again in a while. For the owner. */
  void addMuted(Link link) {
    if (firstMuted == null) {
      firstMuted = link;
    } else {
      lastMuted.nextMuted = link;
    }
    lastMuted = link;
  }

  private void unmute() {
    Link first;
    while ((first = firstMuted) != null && first.mutedUntilNs() - System.nanoTime() <= 0) {
      firstMuted = first.nextMuted;
      lastMuted = firstMuted == null ? null : lastMuted;
      first.nextMuted = null;
      first.unmute();
    }
  }

  @Override
  public void wakeup() {
    selector.wakeup();
  }

  /** Registers a channel, without interest: that comes with {@link Link#bind}. */
  SelectionKey register(SocketChannel channel) throws IOException {
    try {
      return channel.register(selector, 0);
    } catch (ClosedSelectorException e) {
      throw new IOException("the doorbell is closed", e);
    }
  }

  /** Adds a link, which is closed with the doorbell from here on. */
  void add(Link link) {
    links.add(link);
    if (closed) {
      link.abandon();
    }
  }

  void remove(Link link) {
    links.remove(link);
    // A channel that was closed keeps its descriptor until the selector has let go of it.
    selector.wakeup();
  }

  /**
   * The socket for arrivals, opened at the first call, and again where the fabric's directory was
   * replaced or the socket's file deleted: no peer arrives at the old one any more.
   */
  Arrivals arrivals() throws IOException {
    Arrivals unreachable = null;
    lock.lock();
    try {
      checkOpen();
      final ProcessDirectory directory = fabric.directory();
      if (arrivals == null || !arrivals.isFoundIn(directory.path())) {
        unreachable = arrivals;
        arrivals = Arrivals.open(this, selector, directory.path(), directory.nextBell());
        selector.wakeup();
      }
      return arrivals;
    } finally {
      lock.unlock();
      if (unreachable != null) {
        unreachable.close();
      }
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
    } finally {
      lock.unlock();
    }
    if (arrivals != null) {
      arrivals.close();
    }
    for (final Link link : links) {
      link.abandon();
    }
    Cleanup.close(selector);
    fabric.remove(this);
  }
}
