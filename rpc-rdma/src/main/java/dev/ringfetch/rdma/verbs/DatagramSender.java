package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.rdma.natives.CompletionLayout;
import dev.ringfetch.rdma.natives.CompletionQueues;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.SendLayout;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;

/**
 * The sender of datagrams with parts of the session's memory. One datagram of {@value
 * #SIGNAL_INTERVAL} asks for a completion, which stands for all before it. Belongs to the owner of
 * the queue pair.
 */
final class DatagramSender {
  private static final Logger LOGGER = System.getLogger(DatagramSender.class.getName());

  /** Datagrams that the device has room for. */
  static final int DEPTH = 64;

  private static final int SIGNAL_INTERVAL = DEPTH / 4;

  /** Completions that are outstanding at the most. */
  private static final int BATCH = DEPTH / SIGNAL_INTERVAL;

  private final WorkRequestTally tally = new WorkRequestTally(WorkRequestTally.SERVERS);
  private final DatagramPair pair;
  private final VerbsMemory memory;
  private final int peer;
  private final Request request = new Request(SendLayout.SEND);
  private final ByteBuffer taken = Request.direct(BATCH * CompletionLayout.SIZE);
  private final long takenAddress = Regions.address(taken);
  private long posted; // number of the next one
  private long done; // all before it have completed
  private boolean broken;

  /**
   * Sends from an endpoint's datagram pair.
   *
   * @param peer number of the queue pair that receives.
   */
  DatagramSender(Endpoint endpoint, int peer) {
    this.pair = endpoint.datagrams();
    this.memory = endpoint.memory();
    this.peer = peer;
  }

  /** Creates the peer's address handle; called while the connection is being made. */
  void start(long connected) {
    try {
      pair.pointAtPeer(connected);
      request.datagram(pair.handle(), peer, pair.queueKey());
      tally.start();
    } catch (IOException e) {
      fail("there is no way to the peer: " + e.getMessage());
    }
  }

  WorkRequestCounts counts() {
    return tally.counts();
  }

  /** Posts a datagram. */
  int send(int offset, int length) {
    if (!pair.enter()) {
      return QueuePair.SEND_QUEUE_FULL;
    }
    try {
      return post(offset, length);
    } finally {
      pair.leave();
    }
  }

  private int post(int offset, int length) {
    if (posted - done == DEPTH) {
      reap();
    }
    if (broken || pair.handle() == 0) {
      return QueuePair.CLOSED;
    }
    if (posted - done == DEPTH) {
      return QueuePair.SEND_QUEUE_FULL;
    }
    final boolean signaled = posted % SIGNAL_INTERVAL == SIGNAL_INTERVAL - 1;
    final int inline = length <= pair.maxInline() ? SendLayout.INLINE : 0;
    request
        .id(posted)
        .flags(signaled ? inline | SendLayout.SIGNALED : inline)
        .local(memory.address() + offset, length, memory.localKey());
    final long refused = QueuePairs.postSend(pair.queuePair(), request.address());
    if (refused != 0) {
      fail("refused: " + Errors.errnoText(QueuePairs.errno(refused)));
      return QueuePair.CLOSED;
    }
    posted++;
    tally.add(WorkRequestTally.DATAGRAM, signaled);
    return QueuePair.POSTED;
  }

  private void reap() {
    final int count = CompletionQueues.poll(pair.completions(), BATCH, takenAddress);
    for (int i = 0; i < count; i++) {
      final int at = i * CompletionLayout.SIZE;
      done = taken.getLong(at + CompletionLayout.ID) + 1;
      final int status = taken.getInt(at + CompletionLayout.STATUS);
      if (status != CompletionLayout.SUCCESS) {
        fail(Errors.completionText(status));
      }
    }
    if (count < 0) {
      fail("completions are not to be had");
    }
  }

  /** The connection lives on without. */
  private void fail(String reason) {
    if (!broken) {
      broken = true;
      LOGGER.log(Level.WARNING, "no more answers in datagrams: {0}", reason);
    }
  }

  /** Nothing more is sent. */
  void release() {
    tally.close();
  }
}
