package dev.ringfetch.examples.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import dev.ringfetch.rdma.natives.AddressLayout;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.Regions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * The polling server of bare verbs: one client, one request at a time, which it echoes. It polls
 * only between {@link #serve} and the client's word that a round is over. One thread.
 */
public final class BareServer implements AutoCloseable {
  private static final int BACKLOG = 1;
  private static final int PATIENCE_SECONDS = 60;

  private final BareEnd end = new BareEnd();
  private final RdmaCmId listener;
  private final int port;
  private final BareWait wait = new BareWait(PATIENCE_SECONDS, "request of the client");
  private BareMode mode;
  private BareDatagrams datagrams;
  private BareSendQueue queue;
  private BareRequest answer;
  private long number;
  private long answers;

  /** Listens at an address of a device, at a port of the system's choice. */
  public BareServer(InetAddress host) throws IOException {
    listener = end.createId();
    final ByteBuffer address = ByteBuffer.allocateDirect(AddressLayout.SIZE);
    AddressLayout.encode(new InetSocketAddress(host, 0), address);
    ConnectionManager.bind(Disni.handle(listener), Regions.address(address));
    listener.listen(BACKLOG);
    ConnectionManager.localAddress(Disni.handle(listener), Regions.address(address));
    port = AddressLayout.decode(address).getPort();
  }

  /** Port that it listens at. */
  public int port() {
    return port;
  }

  /** Waits for the client. */
  public void accept() throws IOException {
    end.await(EventLayout.CONNECT_REQUEST);
    final BareGreeting client = end.greetingOfPeer();
    mode = client.mode();
    end.use(end.requestedId());
    datagrams = mode == BareMode.datagram ? new BareDatagrams(end) : null;
    end.accept(mode, datagrams == null ? 0 : datagrams.number());
    end.await(EventLayout.ESTABLISHED);
    switch (mode) {
      case fetch -> queue = end.sendQueue(); // never used: the client takes the answer itself
      case push -> {
        queue = end.sendQueue();
        answer = BareRequest.write(end, BareEnd.ANSWER, client, BareEnd.ANSWER);
      }
      case datagram -> {
        datagrams.pointAtPeer();
        queue = datagrams.sendQueue();
        answer = BareRequest.datagram(end, BareEnd.ANSWER, datagrams, client);
      }
    }
  }

  /** Answers requests until the client ends the round. */
  public void serve() {
    final BareFrame request = end.frame(BareEnd.REQUEST);
    final BareFrame stored = end.frame(BareEnd.ANSWER);
    while (true) {
      final long next = number + 1;
      wait.begin();
      long seen;
      while ((seen = request.tailAcquire()) != next && seen != -next) {
        wait.pause();
      }
      number = next;
      if (seen == -next) {
        return;
      }
      stored.copy(request);
      if (mode == BareMode.fetch) {
        stored.putHeadRelease(next);
      } else {
        stored.putTailRelease(next);
        queue.post(answer);
        answers++;
      }
    }
  }

  /** WRITEs that it posted since the connection was made. */
  public long writes() {
    return mode == BareMode.push ? answers : 0;
  }

  /** SENDs that it posted since the connection was made. */
  public long sends() {
    return mode == BareMode.datagram ? answers : 0;
  }

  /** Requests among them that asked for a completion. */
  public long signaled() {
    return queue.signaled();
  }

  @Override
  public void close() throws IOException {
    if (datagrams != null) {
      datagrams.close();
    }
    Disni.giveBack(listener, RdmaCmId::destroyId);
    end.close();
  }
}
