package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.RdmaEventChannel;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.rdma.natives.CompletionQueues;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.FileDescriptors;
import dev.ringfetch.rdma.natives.PollLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The doorbell of the verbs fabric: sleeps on four kinds of descriptors at once: a wake-up, the
 * connection manager's events of all queue pairs, those of the devices, and the completion
 * channels.
 *
 * <p>{@link #await} and {@link #poll} belong to one owner thread; everything else may be called
 * from any. An interrupt does not end a sleep; the next one is not begun.
 */
final class VerbsDoorbell implements Doorbell {
  /** Event: the other side has ended the connection. */
  static final String PEER_ENDED = "the peer has closed the connection or died";

  /** How often idle connections are probed. */
  private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /** How long a doorbell that closes waits for the last requests of what was closed before. */
  private static final long LINGER_NS = TimeUnit.MILLISECONDS.toNanos(50);

  /** How often a closed side is checked, in addition to its completions. */
  private static final long FINISH_NS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Events of the connection manager that one turn takes. */
  private static final int BATCH = 64;

  private static final int FIXED = 3; // the wake-up, the connection manager, and the devices

  private final VerbsFabric fabric;
  private final int wakeUp;
  private final RdmaEventChannel channel;
  private final CompletionChannels completions = new CompletionChannels();
  private final Arrivals arrivals;
  private final Map<Long, VerbsQueuePair> byId = new ConcurrentHashMap<>();
  private final Map<Long, VerbsQueuePair> byQueue = new ConcurrentHashMap<>();
  private final Queue<VerbsQueuePair> ready = new ConcurrentLinkedQueue<>();
  private final Queue<VerbsQueuePair> retired = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> toGiveBack = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean woken = new AtomicBoolean();

  /**
   * Locked by the owner in {@link #await} and {@link #poll}, and by the thread that frees
   * everything.
   */
  private final ReentrantLock inside = new ReentrantLock();

  /** Held while a queue pair is added and while the wake-up is used, against their end. */
  private final ReentrantLock lock = new ReentrantLock();

  /** Written with the lock, read by any thread. */
  private volatile boolean closed;

  @GuardedBy("lock")
  private boolean released;

  // Of the owner, as all below.
  private final List<VerbsQueuePair> lingering = new ArrayList<>();
  private final ByteBuffer entries =
      Request.direct((FIXED + CompletionChannels.MAX_DEVICES) * PollLayout.SIZE);
  private final ByteBuffer event = Request.direct(EventLayout.SIZE);
  private long tickNs = System.nanoTime();

  VerbsDoorbell(VerbsFabric fabric) throws IOException {
    this.fabric = fabric;
    this.channel = RdmaEventChannel.createEventChannel();
    this.arrivals = new Arrivals(this, channel);
    boolean opened = false;
    try {
      this.wakeUp = FileDescriptors.createEvent();
      opened = true;
    } finally {
      if (!opened) {
        Disni.giveBack(channel, RdmaEventChannel::destroyEventChannel);
      }
    }
  }

  VerbsFabric fabric() {
    return fabric;
  }

  Arrivals arrivals() {
    return arrivals;
  }

  CompletionChannels completions() {
    return completions;
  }

  /** Passes an exception of a listener to the thread's handler, so that it ends nothing else. */
  static void report(Throwable failure) {
    final Thread thread = Thread.currentThread();
    thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
  }

  /** Schedules a check of the queue pair in the next turn. */
  void addReady(VerbsQueuePair queuePair) {
    ready.add(queuePair);
    wakeup();
  }

  /** Schedules the freeing of a closed queue pair's objects in a later turn. */
  void retire(VerbsQueuePair queuePair) {
    retired.add(queuePair);
    wakeup();
  }

  /** Leaves the freeing of an object to the owner, which may be using it. */
  void giveBack(Runnable giving) {
    if (hasOwner(giving)) {
      wakeup();
    } else {
      giving.run();
    }
  }

  private boolean hasOwner(Runnable giving) {
    lock.lock();
    try {
      return !released && toGiveBack.add(giving);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes over a queue pair; its events come to this doorbell from here on.
   *
   * @param migrated whether its id is of another channel still.
   */
  void add(VerbsQueuePair queuePair, boolean migrated) throws IOException {
    final Endpoint endpoint = queuePair.endpoint();
    boolean added = false;
    lock.lock();
    try {
      checkOpen();
      byQueue.put(endpoint.sendCompletions(), queuePair);
      byQueue.put(endpoint.receiveCompletions(), queuePair);
      byId.put(Disni.handle(endpoint.id()), queuePair); // before its events can come
      if (migrated) {
        ConnectionManager.migrate(Disni.handle(endpoint.id()), Disni.handle(channel));
      }
      queuePair.start();
      added = true;
    } finally {
      if (!added) {
        remove(queuePair);
      }
      lock.unlock();
    }
    wakeup(); // its events may be there already, and its device may be new
  }

  private void remove(VerbsQueuePair queuePair) {
    final Endpoint endpoint = queuePair.endpoint();
    byId.remove(Disni.handle(endpoint.id()));
    byQueue.remove(endpoint.sendCompletions());
    byQueue.remove(endpoint.receiveCompletions());
  }

  @Override
  public int await(long timeoutNs) throws IOException {
    inside.lock();
    try {
      checkOpen();
      final boolean isDue =
          !ready.isEmpty() || !retired.isEmpty() || Thread.currentThread().isInterrupted();
      return turn(isDue ? 0 : Math.min(timeoutNs, dueNs()));
    } finally {
      leave();
    }
  }

  @Override
  public int poll() throws IOException {
    inside.lock();
    try {
      checkOpen();
      return turn(0);
    } finally {
      leave();
    }
  }

  void checkOpen() throws IOException {
    if (closed) {
      throw new IOException("the doorbell is closed");
    }
  }

  private long dueNs() {
    if (!lingering.isEmpty()) {
      return FINISH_NS;
    }
    return byId.isEmpty() ? FOREVER : Math.max(0, tickNs + TICK_NS - System.nanoTime());
  }

  private int turn(long timeoutNs) throws IOException {
    final IbvCompChannel[] channels = completions.all();
    enter(0, wakeUp);
    enter(1, ConnectionManager.channelDescriptor(Disni.handle(channel)));
    enter(2, fabric.eventDescriptor());
    for (int i = 0; i < channels.length; i++) {
      enter(FIXED + i, CompletionQueues.channelDescriptor(Disni.handle(channels[i])));
    }
    final int count =
        FileDescriptors.poll(
            Regions.address(entries),
            FIXED + channels.length,
            timeoutNs == FOREVER ? -1 : Math.max(0, timeoutNs));
    if (count < 0) {
      throw new IOException("cannot sleep: " + Errors.errnoText(count));
    }
    if (isReady(0)) {
      FileDescriptors.drain(wakeUp);
      woken.set(false); // after the drain: a caller that finds it set is served by the code below
    }
    if (isReady(2)) {
      fabric.takeDeviceEvents();
    }
    // A listener may take a turn of its own, so the entries may be those of an inner turn, which
    // has then delivered the events missing here. Channels may have ended there; the next turn
    // finds what they miss.
    int events = isReady(1) ? takeEvents() : 0;
    for (int i = 0; i < channels.length && channels == completions.all(); i++) {
      events += isReady(FIXED + i) ? takeCompletions(channels, i) : 0;
    }
    for (int left = ready.size(); left > 0 && !closed; left--) {
      final VerbsQueuePair queuePair = ready.poll();
      events += queuePair == null ? 0 : queuePair.onReady();
    }
    finishRetired();
    giveBack();
    tick();
    return events;
  }

  private void enter(int index, int descriptor) {
    entries
        .putInt(index * PollLayout.SIZE + PollLayout.DESCRIPTOR, descriptor)
        .putShort(index * PollLayout.SIZE + PollLayout.WANTED, (short) PollLayout.READABLE)
        .putShort(index * PollLayout.SIZE + PollLayout.READY, (short) 0);
  }

  private boolean isReady(int index) {
    return entries.getShort(index * PollLayout.SIZE + PollLayout.READY) != 0 && !closed;
  }

  private int takeEvents() {
    int events = 0;
    for (int i = 0; i < BATCH && !closed; i++) {
      if (ConnectionManager.nextEvent(Disni.handle(channel), Regions.address(event), 0) <= 0) {
        break;
      }
      events += take();
    }
    return events;
  }

  private void onRequest(long id) {
    try {
      arrivals.onRequest(Disni.requested(id, channel), event);
    } catch (IOException e) {
      report(e); // only this peer is concerned, and it has a deadline
    }
  }

  private int take() {
    final int type = event.getInt(EventLayout.TYPE);
    final long id = event.getLong(EventLayout.ID);
    if (type == EventLayout.CONNECT_REQUEST) {
      onRequest(id);
      return 0;
    }
    final VerbsQueuePair queuePair = byId.get(id);
    if (queuePair == null) {
      return 0; // of a freed object, or of the listening id
    }
    if (type == EventLayout.ESTABLISHED) {
      return arrivals.onEstablished(queuePair);
    }
    if (type == EventLayout.DEVICE_REMOVED) {
      queuePair.endpoint().removed();
    }
    if (arrivals.onFailed(queuePair)) {
      return 0;
    }
    queuePair.end(type == EventLayout.DISCONNECTED ? PEER_ENDED : Errors.connectionEventText(type));
    return queuePair.onReady();
  }

  private int takeCompletions(IbvCompChannel[] channels, int index) {
    int events = 0;
    for (int i = 0; i < BATCH && !closed && channels == completions.all(); i++) {
      final long queue = CompletionQueues.nextEvent(Disni.handle(channels[index]));
      if (queue <= 0) {
        break;
      }
      CompletionQueues.acknowledge(queue, 1);
      final VerbsQueuePair queuePair = byQueue.get(queue);
      events += queuePair == null ? 0 : queuePair.onReady();
    }
    return events;
  }

  private void finishRetired() {
    VerbsQueuePair next;
    while ((next = retired.poll()) != null) {
      lingering.add(next);
    }
    for (int i = lingering.size() - 1; i >= 0; i--) {
      final VerbsQueuePair queuePair = lingering.get(i);
      // Removed from the look-up before another object can get its handles.
      if (queuePair.isOver()) {
        remove(queuePair);
        arrivals.forget(queuePair);
        queuePair.finish();
        lingering.remove(i);
      }
    }
  }

  private void giveBack() {
    Runnable giving;
    while ((giving = toGiveBack.poll()) != null) {
      giving.run();
    }
  }

  private void tick() {
    final long nowNs = System.nanoTime();
    if (nowNs - tickNs >= TICK_NS) {
      tickNs = nowNs;
      byId.values().forEach(VerbsQueuePair::tick);
    }
  }

  @Override
  public void wakeup() {
    if (!woken.getAndSet(true)) {
      signal();
    }
  }

  private void signal() {
    lock.lock();
    try {
      if (!released) {
        FileDescriptors.signal(wakeUp);
      }
    } finally {
      lock.unlock();
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
    signal();
    if (!inside.isHeldByCurrentThread() && inside.tryLock()) {
      leave();
    }
  }

  /** Frees everything if the doorbell was closed and no other thread is inside. */
  private void leave() {
    final boolean isLast = inside.getHoldCount() == 1;
    if (isLast && closed) {
      release();
    }
    inside.unlock();
    // Closed in between: the closing thread found the lock taken, and left the freeing to this
    // thread.
    if (isLast && closed && inside.tryLock()) {
      release();
      inside.unlock();
    }
  }

  private void release() {
    lock.lock();
    try {
      if (released) {
        return;
      }
      released = true;
    } finally {
      lock.unlock();
    }
    arrivals.close();
    byId.values().forEach(VerbsQueuePair::close);
    final long startNs = System.nanoTime();
    for (final VerbsQueuePair queuePair : byId.values()) {
      while (!queuePair.isOver() && System.nanoTime() - startNs < LINGER_NS) {
        Thread.onSpinWait();
      }
      queuePair.finish();
    }
    byId.clear();
    byQueue.clear();
    completions.close();
    giveBack();
    Disni.giveBack(channel, RdmaEventChannel::destroyEventChannel);
    FileDescriptors.close(wakeUp);
    fabric.remove(this);
  }
}
