package dev.ringfetch.examples.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import dev.ringfetch.rdma.natives.AddressLayout;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.Regions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * The client of bare verbs: one request at a time, by the thread that calls, which polls for the
 * answer. If the answer does not come, for example a lost datagram, the wait ends with an
 * exception. One thread.
 */
public final class BareClient implements Runnable, AutoCloseable {
  private final BareEnd end = new BareEnd();
  private final BareMode mode;
  private final BareDatagrams datagrams;
  private final BareSendQueue queue;
  private final BareFrame staged;
  private final BareFrame landed;
  private final BareRequest request;
  private final BareRequest fetch;
  private final BareWait wait = new BareWait(BareEnd.PATIENCE_SECONDS, "answer of the server");
  private long number;
  private long writes;
  private long reads;
  private long torn;

  /** Connects; the server must be {@link BareServer#accept accepting}. */
  public BareClient(InetSocketAddress server, BareMode mode) throws IOException {
    this.mode = mode;
    final ByteBuffer address = ByteBuffer.allocateDirect(AddressLayout.SIZE);
    AddressLayout.encode(server, address);
    final RdmaCmId id = end.createId();
    ConnectionManager.resolveAddress(
        Disni.handle(id), 0, Regions.address(address), BareEnd.PATIENCE_MS);
    end.await(EventLayout.ADDRESS_RESOLVED);
    id.resolveRoute(BareEnd.PATIENCE_MS);
    end.await(EventLayout.ROUTE_RESOLVED);
    end.use(id);
    datagrams = mode == BareMode.datagram ? new BareDatagrams(end) : null;
    end.connect(mode, datagrams == null ? 0 : datagrams.number());
    end.await(EventLayout.ESTABLISHED);
    final BareGreeting greeting = end.greetingOfPeer();
    queue = end.sendQueue();
    staged = end.frame(BareEnd.REQUEST);
    landed = end.frame(BareEnd.ANSWER);
    request = BareRequest.write(end, BareEnd.REQUEST, greeting, BareEnd.REQUEST);
    fetch = BareRequest.read(end, BareEnd.ANSWER, greeting, BareEnd.ANSWER);
  }

  /** Makes a call; its answer is compared byte by byte. */
  @Override
  public void run() {
    final long next = ++number;
    staged.fill(next);
    staged.putTailRelease(next);
    queue.post(request);
    writes++;
    switch (mode) {
      case fetch -> fetch(next);
      case push -> awaitWrite(next);
      case datagram -> awaitDatagram(next);
    }
  }

  private void fetch(long awaited) {
    wait.begin();
    while (true) {
      queue.read(fetch);
      reads++;
      if (landed.headAcquire() == awaited) {
        if (landed.holds(awaited)) {
          return;
        }
        torn++;
      }
      wait.pause();
    }
  }

  private void awaitWrite(long awaited) {
    wait.begin();
    while (landed.tailAcquire() != awaited) {
      wait.pause();
    }
    if (!landed.holds(awaited)) {
      throw new IllegalStateException("not what was asked, answer " + awaited);
    }
  }

  private void awaitDatagram(long awaited) {
    wait.begin();
    while (!datagrams.poll(awaited)) {
      wait.pause();
    }
  }

  /** Ends a round: the server stops to poll. Not counted, as no call needs it. */
  public void end() {
    staged.putTailRelease(- ++number);
    queue.post(request);
  }

  /** WRITEs that it posted since the connection was made, one for each call. */
  public long writes() {
    return writes;
  }

  /** READs that it posted since the connection was made. */
  public long reads() {
    return reads;
  }

  /** Requests among them, READs apart, that asked for a completion. */
  public long signaled() {
    return queue.signaled();
  }

  /** READs that took a number before all of its answer, since the connection was made. */
  public long torn() {
    return torn;
  }

  @Override
  public void close() throws IOException {
    Disni.check("rdma_disconnect", end.id().disconnect());
    if (datagrams != null) {
      datagrams.close();
    }
    end.close();
  }
}
