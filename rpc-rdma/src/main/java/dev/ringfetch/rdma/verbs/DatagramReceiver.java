package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.rdma.natives.CompletionLayout;
import dev.ringfetch.rdma.natives.CompletionQueues;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.ReceiveLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.ScatterLayout;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;

/**
 * The receiver of one peer's datagrams. It posts receives before the peer learns of the queue pair,
 * and anew {@value #BATCH} at a time, by one doorbell; a datagram that finds no receive is lost.
 * The device drops datagrams without the queue key, and this side those of other queue pairs.
 *
 * <p>Belongs to the thread that sets the connection up, then to the owner of the queue pair.
 */
final class DatagramReceiver {
  private static final Logger LOGGER = System.getLogger(DatagramReceiver.class.getName());

  /** Receives posted. */
  static final int DEPTH = 64;

  private static final int BATCH = 16;

  /** Bytes of a receive: whole lines, the route header included. */
  private static final int STEP =
      (CompletionLayout.ROUTE_HEADER + DatagramPair.MAX_LENGTH + 63) & -64;

  private final DatagramPair pair;
  private final VerbsMemory memory;
  private final ByteBuffer receives = Request.direct(DEPTH * ReceiveLayout.SIZE);
  private final ByteBuffer pieces = Request.direct(DEPTH * ScatterLayout.SIZE);
  private final ByteBuffer taken = Request.direct(CompletionLayout.SIZE);
  private final long takenAddress = Regions.address(taken);
  private int peer; // number of the queue pair that sends; 0: not known yet
  private int first; // of the receives to be posted, which are linked
  private int last;
  private int idle; // how many they are
  private boolean broken;

  /** Posts the receives of an endpoint's datagram pair. */
  DatagramReceiver(Endpoint endpoint) throws IOException {
    this.pair = endpoint.datagrams();
    this.memory = endpoint.scratch(DEPTH * STEP);
    for (int i = 0; i < DEPTH; i++) {
      pieces
          .putLong(
              i * ScatterLayout.SIZE + ScatterLayout.ADDRESS, memory.address() + i * (long) STEP)
          .putInt(
              i * ScatterLayout.SIZE + ScatterLayout.LENGTH,
              CompletionLayout.ROUTE_HEADER + DatagramPair.MAX_LENGTH)
          .putInt(i * ScatterLayout.SIZE + ScatterLayout.KEY, memory.localKey());
      receives
          .putLong(i * ReceiveLayout.SIZE + ReceiveLayout.ID, i)
          .putLong(
              i * ReceiveLayout.SIZE + ReceiveLayout.SCATTER,
              Regions.address(pieces) + i * (long) ScatterLayout.SIZE)
          .putInt(i * ReceiveLayout.SIZE + ReceiveLayout.SCATTER_COUNT, 1);
      giveBack(i);
    }
    post();
    if (broken) {
      throw new IOException("receives were refused");
    }
  }

  /** Accepts datagrams of this queue pair, from here on. */
  void listenTo(int number) {
    peer = number;
  }

  private void giveBack(int index) {
    if (idle == 0) {
      first = index;
    } else {
      link(last, Regions.address(receives) + index * (long) ReceiveLayout.SIZE);
    }
    last = index;
    idle++;
  }

  private void link(int index, long next) {
    receives.putLong(index * ReceiveLayout.SIZE + ReceiveLayout.NEXT, next);
  }

  private void post() {
    link(last, 0);
    final long list = Regions.address(receives) + first * (long) ReceiveLayout.SIZE;
    final long refused = QueuePairs.postReceive(pair.queuePair(), list);
    if (refused != 0) {
      fail("refused: " + Errors.errnoText(QueuePairs.errno(refused)));
    }
    idle = 0;
  }

  /** The connection lives on without. */
  private void fail(String reason) {
    broken = true; // and is read before the next poll
    LOGGER.log(Level.WARNING, "no more answers in datagrams: {0}", reason);
  }

  /** Hands out what has come. */
  int poll(QueuePair.DatagramHandler handler, int limit) {
    if (!pair.enter()) {
      return 0;
    }
    try {
      final int handedOut = take(handler, limit);
      return broken && handedOut == 0 ? QueuePair.CLOSED : handedOut;
    } finally {
      pair.leave();
    }
  }

  private int take(QueuePair.DatagramHandler handler, int limit) {
    int handedOut = 0;
    while (handedOut < limit && !broken) {
      final int count = CompletionQueues.poll(pair.completions(), 1, takenAddress);
      if (count == 0) {
        break;
      }
      final int status = count < 0 ? 0 : taken.getInt(CompletionLayout.STATUS);
      if (count < 0) {
        fail("completions are not to be had");
      } else if (status != CompletionLayout.SUCCESS) {
        fail(Errors.completionText(status));
      } else {
        handedOut += handOut(handler, (int) taken.getLong(CompletionLayout.ID));
      }
    }
    if (idle >= BATCH && !broken) {
      post();
    }
    return handedOut;
  }

  private int handOut(QueuePair.DatagramHandler handler, int index) {
    final int length = taken.getInt(CompletionLayout.LENGTH) - CompletionLayout.ROUTE_HEADER;
    try {
      if (taken.getInt(CompletionLayout.SOURCE_QUEUE_PAIR) != peer || length <= 0) {
        return 0;
      }
      handler.onDatagram(memory, index * STEP + CompletionLayout.ROUTE_HEADER, length);
      return 1;
    } finally {
      giveBack(index);
    }
  }
}
