package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RegisteredMemory;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.fabric.WorkRequests;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.SendLayout;
import dev.ringfetch.timer.Retry;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * The queue pair of one side of a reliable connection, with its states.
 *
 * <pre>
 *   OPEN  -- the peer ends, or an error --> ENDED  (disconnected; listener told)
 *   OPEN, ENDED  -- close ---------------> CLOSED (lingers until what was posted has been executed,
 *                                                  is disconnected, then its objects are given back)
 * </pre>
 *
 * <p>The thread that owns the doorbell, or the thread that closes it, frees the objects of the
 * device, when no thread posts or polls any more.
 */
final class VerbsQueuePair implements QueuePair {
  private static final Logger LOGGER = System.getLogger(VerbsQueuePair.class.getName());

  /** Time limit for the last requests of a closed side. */
  private static final long LINGER_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Largest number of looks at one connection's arrivals before others have their turn. */
  private static final int ROUNDS = 4;

  /** Delay before another attempt to send a ring that waits for credit. */
  private static final long RING_RETRY_NS = TimeUnit.MILLISECONDS.toNanos(2);

  private enum State {
    OPEN,
    ENDED,
    CLOSED
  }

  private final VerbsDoorbell doorbell;
  private final Endpoint endpoint;
  private final ReceiveQueue receiveQueue;
  private final SendQueue sendQueue;
  private final DatagramSender sender; // null: none
  private final DatagramReceiver receiver; // null: none
  private final RemoteMemory remote;
  private final AttachedRemotes remotes;
  private final FabricCapabilities capabilities;
  private final String peer;

  private final Retry ring = new Retry(this::sendWaitingRing, RING_RETRY_NS);

  /** Written with the monitor, read by any thread. */
  private volatile State state = State.OPEN;

  /** Written with the monitor, read by any thread. */
  private volatile Listener listener;

  @GuardedBy("this")
  private String end;

  @GuardedBy("this")
  private boolean disconnected;

  @GuardedBy("this")
  private long closedNs;

  /** Of the doorbell's owner. */
  private boolean endReported;

  /**
   * Takes over a connection.
   *
   * @param receiveQueue whose receives were posted before the connection was made.
   * @param sender of datagrams, or null.
   * @param receiver of datagrams, or null.
   * @param side the peer's description of its memory.
   */
  VerbsQueuePair(
      VerbsDoorbell doorbell,
      Endpoint endpoint,
      ReceiveQueue receiveQueue,
      DatagramSender sender,
      DatagramReceiver receiver,
      Introduction.Side side,
      WorkRequestTally.Group group,
      String peer)
      throws IOException {
    this.doorbell = doorbell;
    this.endpoint = endpoint;
    this.receiveQueue = receiveQueue;
    this.remote = side.memory();
    this.remotes = new AttachedRemotes(remote);
    this.sender = sender;
    this.receiver = receiver;
    this.capabilities =
        VerbsFabric.capabilities(
            endpoint.maxInline(), sender == null && receiver == null ? 0 : DatagramPair.MAX_LENGTH);
    this.peer = "verbs " + peer + " queue pair " + QueuePairs.number(endpoint.queuePair());
    this.sendQueue = new SendQueue(endpoint, side, group);
  }

  Endpoint endpoint() {
    return endpoint;
  }

  /** Records that the doorbell has it; it must be {@link #finish}ed from here on. */
  void start() {
    sendQueue.start();
    if (sender != null) {
      sender.start(endpoint.queuePair());
    }
  }

  /** Work requests of this side so far. */
  WorkRequestCounts counts() {
    final WorkRequestCounts counts = sendQueue.counts();
    return sender == null ? counts : counts.plus(sender.counts());
  }

  @Override
  public FabricCapabilities capabilities() {
    return capabilities;
  }

  @Override
  public MemoryRegion memory() {
    return endpoint.memory();
  }

  @Override
  public RemoteMemory remote() {
    return remote;
  }

  @Override
  public RegisteredMemory register(int length) throws IOException {
    WorkRequests.checkLength(length);
    checkOpen();
    return endpoint.registered(length);
  }

  @Override
  public MemoryRegion attach(byte[] descriptor, int maxLength) throws IOException {
    throw new IOException("the peer's memory cannot be loaded from: " + capabilities);
  }

  @Override
  public RemoteMemory attachRemote(byte[] descriptor, int maxLength) throws IOException {
    checkOpen();
    return remotes.attach(descriptor, maxLength);
  }

  @Override
  public MemoryRegion scratch(int length) throws IOException {
    WorkRequests.checkLength(length);
    checkOpen();
    return endpoint.scratch(length);
  }

  private void checkOpen() throws IOException {
    if (state != State.OPEN) {
      throw new IOException("the connection has ended");
    }
  }

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public synchronized void bind(Listener listener) {
    if (this.listener != null) {
      throw new IllegalStateException("bound twice: listener=" + listener);
    }
    this.listener = listener;
    doorbell.addReady(this);
  }

  @Override
  public int write(int offset, int length) {
    WorkRequests.checkRange("offset", offset, length, remote.length());
    return posted(sendQueue.write(offset, length));
  }

  @Override
  public int read(
      RemoteMemory remote,
      int remoteOffset,
      MemoryRegion local,
      int localOffset,
      int length,
      int firstOffset,
      long workRequestId) {
    remotes.check(remote);
    WorkRequests.checkRead(remote, remoteOffset, local, localOffset, length, firstOffset);
    if (!(local instanceof VerbsMemory target) || !target.isOf(endpoint.domain())) {
      throw new IllegalArgumentException("not of this connection: local=" + local);
    }
    // No device lets a caller choose which word is loaded first: see readAtomicity.
    return posted(
        sendQueue.read(
            remote.address() + remoteOffset,
            remote.rkey(),
            target,
            localOffset,
            length,
            workRequestId));
  }

  @Override
  public int compareAndSwap(
      RemoteMemory remote, int remoteOffset, long expected, long desired, long workRequestId) {
    return atomic(
        SendLayout.COMPARE_AND_SWAP, remote, remoteOffset, expected, desired, workRequestId);
  }

  @Override
  public int fetchAndAdd(RemoteMemory remote, int remoteOffset, long delta, long workRequestId) {
    return atomic(SendLayout.FETCH_AND_ADD, remote, remoteOffset, delta, 0, workRequestId);
  }

  private int atomic(
      int opcode, RemoteMemory remote, int offset, long operand, long other, long workRequestId) {
    WorkRequests.checkRemote(this.remote, remote);
    WorkRequests.checkWord(remote, offset);
    return posted(
        sendQueue.atomic(
            opcode, remote.address() + offset, remote.rkey(), operand, other, workRequestId));
  }

  @Override
  public int sendDatagram(int offset, int length) {
    WorkRequests.checkDatagram(offset, length, remote.length(), capabilities.maxDatagram());
    return sender == null || state != State.OPEN ? CLOSED : sender.send(offset, length);
  }

  @Override
  public int pollDatagrams(DatagramHandler handler, int limit) {
    return receiver == null || state == State.CLOSED ? 0 : receiver.poll(handler, limit);
  }

  @Override
  public void cork() {
    sendQueue.cork();
  }

  @Override
  public void uncork() {
    if (!sendQueue.uncork()) {
      posted(CLOSED);
    }
  }

  /** Times that requests were handed to the device. */
  long doorbells() {
    return sendQueue.doorbells();
  }

  /** A failed request may have left the queue pair as it was, so that no other event reports it. */
  private int posted(int result) {
    if (result == CLOSED && state == State.OPEN) {
      doorbell.addReady(this);
    }
    return result;
  }

  @Override
  public CompletionQueue completions() {
    return sendQueue;
  }

  @Override
  public void ringDoorbell() {
    if (!sendQueue.ring()) {
      ring.schedule();
    }
  }

  /**
   * Tries to send the waiting ring again: its caller is gone, and perhaps no thread polls this
   * side's doorbell.
   */
  private void sendWaitingRing() {
    if (!sendQueue.sendWaitingRing() && state == State.OPEN) {
      ring.schedule();
    }
  }

  /** Tells the listener what has arrived. For the doorbell's owner. */
  int onReady() {
    final Listener bound = listener;
    if (bound == null || state == State.CLOSED) {
      return 0;
    }
    int count = 0;
    int rounds = 0;
    ReceiveQueue.Arrival arrival;
    receiveQueue.arm();
    do {
      arrival = receiveQueue.take(sendQueue);
      if (arrival == ReceiveQueue.Arrival.RINGS) {
        count += reportRing(bound);
      }
      rounds++;
    } while (arrival == ReceiveQueue.Arrival.RINGS && rounds < ROUNDS && state != State.CLOSED);
    if (arrival == ReceiveQueue.Arrival.RINGS) {
      doorbell.addReady(this);
    } else if (arrival == ReceiveQueue.Arrival.BROKEN || sendQueue.isBroken()) {
      final String failure = sendQueue.readFailure();
      end(failure != null ? failure : "the queue pair is in error: the peer was refused, or died");
    }
    return count + reportEnd(bound);
  }

  private int reportRing(Listener bound) {
    if (endReported || state == State.CLOSED) {
      return 0;
    }
    try {
      bound.onDoorbell();
    } catch (Throwable e) {
      VerbsDoorbell.report(e);
      end("the listener failed: " + e);
    }
    return 1;
  }

  private int reportEnd(Listener bound) {
    final String reason;
    synchronized (this) {
      if (state != State.ENDED || endReported) {
        return 0;
      }
      endReported = true;
      reason = peer + ": " + end;
    }
    try {
      bound.onDisconnected(reason.lines().findFirst().orElse(""));
    } catch (Throwable e) {
      VerbsDoorbell.report(e);
    }
    return 1;
  }

  /** Records that the connection has ended; {@link #onReady} tells the listener. */
  synchronized void end(String reason) {
    if (state == State.OPEN) {
      state = State.ENDED;
      end = reason;
      sendQueue.shut(false);
      disconnect();
    }
  }

  /** Disconnects: pending requests are flushed, and the peer gets an event. */
  @GuardedBy("this")
  private void disconnect() {
    if (disconnected) {
      return;
    }
    disconnected = true;
    try {
      Disni.check("rdma_disconnect", endpoint.id().disconnect());
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "it had ended already", e);
    }
  }

  /** Posts a probe if nothing was posted for a while. For the doorbell's owner. */
  void tick() {
    if (state == State.OPEN) {
      sendQueue.tick();
      if (sendQueue.isBroken()) {
        doorbell.addReady(this); // a ring or a probe was refused, which no other event reports
      }
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      if (state == State.CLOSED) {
        return;
      }
      final boolean gracefully = state == State.OPEN;
      state = State.CLOSED;
      closedNs = System.nanoTime();
      sendQueue.shut(gracefully);
      if (sendQueue.isDrained()) {
        disconnect();
      }
    }
    doorbell.retire(this);
  }

  /** Whether the requests before the close have been executed, or their time is over. */
  synchronized boolean isOver() {
    return disconnected || sendQueue.isDrained() || System.nanoTime() - closedNs > LINGER_NS;
  }

  /** Frees the objects of the device. For the doorbell's owner; idempotent. */
  synchronized void finish() {
    disconnect();
    sendQueue.release();
    if (sender != null) {
      sender.release();
    }
    endpoint.release();
  }

  @Override
  public String toString() {
    return "VerbsQueuePair[" + peer + "]";
  }
}
