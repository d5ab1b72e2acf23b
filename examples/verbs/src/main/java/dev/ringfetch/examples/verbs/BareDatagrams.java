package dev.ringfetch.examples.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvContext;
import dev.ringfetch.rdma.natives.CompletionLayout;
import dev.ringfetch.rdma.natives.CompletionQueues;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Datagrams;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.QueuePairLayout;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.ReceiveLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.ScatterLayout;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A queue pair of unreliable datagrams beside a connection, in the connection's memory: the server
 * sends with it, the client receives. One thread.
 */
final class BareDatagrams implements AutoCloseable {
  /** The queue key of senders. */
  static final int QUEUE_KEY = 0x52464554;

  private static final int RECEIVES = 16;

  /** Bytes of a receive. */
  static final int STEP = 128;

  /** End of the memory that receives take, within that of {@link BareEnd}. */
  static final int END = BareEnd.DATAGRAMS + RECEIVES * STEP;

  private final BareEnd end;
  private final IbvCQ sendCompletions;
  private final IbvCQ receiveCompletions;
  private final long receiveQueue;
  private final long queuePair;
  private final ByteBuffer capacity = Request.direct(QueuePairLayout.CAPACITY_SIZE);
  private final ByteBuffer receive = Request.direct(ReceiveLayout.SIZE + ScatterLayout.SIZE);
  private final ByteBuffer completion = Request.direct(CompletionLayout.SIZE);
  private final BareFrame[] frames = new BareFrame[RECEIVES];
  private long handle;

  /** Creates it, ready, with all receives posted; the end has its queue pair. */
  BareDatagrams(BareEnd end) throws IOException {
    this.end = end;
    final IbvContext context = end.id().getVerbs();
    sendCompletions = context.createCQ(end.completionChannel(), BareSignals.DEPTH, 0);
    receiveCompletions = context.createCQ(end.completionChannel(), RECEIVES, 0);
    receiveQueue = Disni.handle(receiveCompletions);
    BareEnd.wish(capacity, RECEIVES);
    queuePair =
        Datagrams.create(
            Disni.handle(end.domain()),
            Disni.handle(sendCompletions),
            receiveQueue,
            Regions.address(capacity));
    Datagrams.activate(queuePair, ConnectionManager.port(Disni.handle(end.id())), 0, QUEUE_KEY);
    for (int i = 0; i < RECEIVES; i++) {
      // A frame begins with its head, which is not sent: here the route header's end.
      frames[i] = end.frame(place(i) + CompletionLayout.ROUTE_HEADER - BareFrame.PAYLOAD);
      postReceive(i);
    }
  }

  private static int place(int index) {
    return BareEnd.DATAGRAMS + index * STEP;
  }

  /** Creates the address handle of the peer; the end is connected. */
  void pointAtPeer() throws IOException {
    handle = Datagrams.createHandleOfPeer(Disni.handle(end.domain()), end.queuePair());
  }

  /** The peer's address handle. */
  long handle() {
    return handle;
  }

  /** Number by which the peer sends to it. */
  int number() {
    return QueuePairs.number(queuePair);
  }

  int inlineFlag() {
    return BareEnd.inlineFlag(capacity);
  }

  /** The send side; to be asked for once. */
  BareSendQueue sendQueue() {
    return new BareSendQueue(queuePair, Disni.handle(sendCompletions));
  }

  private void postReceive(int index) {
    receive
        .putLong(ReceiveLayout.ID, index)
        .putLong(ReceiveLayout.SCATTER, Regions.address(receive) + ReceiveLayout.SIZE)
        .putInt(ReceiveLayout.SCATTER_COUNT, 1)
        .putLong(ReceiveLayout.SIZE + ScatterLayout.ADDRESS, end.address(place(index)))
        .putInt(ReceiveLayout.SIZE + ScatterLayout.LENGTH, STEP)
        .putInt(ReceiveLayout.SIZE + ScatterLayout.KEY, end.localKey());
    final int error = QueuePairs.errno(QueuePairs.postReceive(queuePair, Regions.address(receive)));
    if (error != 0) {
      throw new IllegalStateException("receive: errno " + -error);
    }
  }

  /**
   * Takes a datagram, if there is one, and posts its receive again.
   *
   * @return whether it was there and holds the answer to a request.
   */
  boolean poll(long number) {
    final int count = CompletionQueues.poll(receiveQueue, 1, Regions.address(completion));
    if (count == 0) {
      return false;
    }
    if (count < 0) {
      throw new IllegalStateException("poll: errno " + -count);
    }
    final int status = completion.getInt(CompletionLayout.STATUS);
    if (status != CompletionLayout.SUCCESS) {
      throw new IllegalStateException("receive: " + Errors.completionText(status));
    }
    final int index = (int) completion.getLong(CompletionLayout.ID);
    final boolean answers = frames[index].tailAcquire() == number && frames[index].holds(number);
    postReceive(index);
    return answers;
  }

  @Override
  public void close() throws IOException {
    Datagrams.destroy(queuePair);
    if (handle != 0) {
      Datagrams.destroyHandle(handle);
    }
    Disni.giveBack(sendCompletions, IbvCQ::destroyCQ);
    Disni.giveBack(receiveCompletions, IbvCQ::destroyCQ);
  }
}
