package dev.ringfetch.rdma.natives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** DiSNI's own objects on this library and a real device: what DaRPC and others use. */
@Tag("verbs")
final class DisniLoopTest {
  private static final int PORT = 20_079;
  private static final int TIMEOUT_MS = 20_000;
  private static final int ALL_ACCESS =
      IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ;

  /** What one end of the connection has of the device. */
  private static final class End {
    final IbvPd domain;
    final IbvCompChannel channel;
    final IbvCQ queue;
    final IbvQP queuePair;
    final ByteBuffer memory = RcLoop.direct(4096);
    final IbvMr region;

    End(RdmaCmId id) throws Exception {
      IbvContext context = id.getVerbs();
      domain = context.allocPd();
      channel = context.createCompChannel();
      queue = context.createCQ(channel, 16, 0);
      IbvQPInitAttr attributes = new IbvQPInitAttr();
      attributes.cap().setMax_send_wr(8);
      attributes.cap().setMax_recv_wr(8);
      attributes.cap().setMax_send_sge(1);
      attributes.cap().setMax_recv_sge(1);
      attributes.setQp_type(IbvQP.IBV_QPT_RC);
      attributes.setSend_cq(queue);
      attributes.setRecv_cq(queue);
      queuePair = id.createQP(domain, attributes);
      region = domain.regMr(memory, ALL_ACCESS).execute().free().getMr();
    }

    void close(RdmaCmId id) throws Exception {
      id.destroyQP();
      region.deregMr().execute().free();
      queue.destroyCQ();
      channel.destroyCompChannel();
      domain.deallocPd();
      id.destroyId();
    }
  }

  @BeforeEach
  void device() throws IOException {
    RdmaAssumptions.assumeDevice();
    NativeLibrary.require();
  }

  @Test
  @SuppressWarnings("JdkObsolete") // DiSNI asks for a LinkedList
  void connectsAndWrites() throws Exception {
    InetSocketAddress address = new InetSocketAddress(RcLoopTest.local(Inet4Address.class), PORT);
    RdmaEventChannel serverEvents = RdmaEventChannel.createEventChannel();
    RdmaEventChannel clientEvents = RdmaEventChannel.createEventChannel();
    RdmaCmId listener = serverEvents.createId(RdmaCm.RDMA_PS_TCP);
    listener.bindAddr(address);
    listener.listen(1);
    RdmaCmId client = clientEvents.createId(RdmaCm.RDMA_PS_TCP);
    client.resolveAddr(null, address, TIMEOUT_MS);
    await(clientEvents, EventLayout.ADDRESS_RESOLVED);
    client.resolveRoute(TIMEOUT_MS);
    await(clientEvents, EventLayout.ROUTE_RESOLVED);
    End near = new End(client);
    RdmaConnParam parameters = new RdmaConnParam();
    parameters.setRetry_count((byte) 7);
    parameters.setRnr_retry_count((byte) 7);
    client.connect(parameters);
    RdmaCmId server = await(serverEvents, EventLayout.CONNECT_REQUEST).getConnIdPriv();
    End far = new End(server);
    server.accept(parameters);
    await(clientEvents, EventLayout.ESTABLISHED);
    await(serverEvents, EventLayout.ESTABLISHED);
    assertEquals(address.getAddress(), ((InetSocketAddress) client.getDestination()).getAddress());

    near.memory.putLong(0, 42);
    IbvSge piece = new IbvSge();
    piece.setAddr(Regions.address(near.memory));
    piece.setLength(8);
    piece.setLkey(near.region.getLkey());
    IbvSendWR write = new IbvSendWR();
    write.setWr_id(7);
    write.setOpcode(IbvSendWR.IBV_WR_RDMA_WRITE);
    write.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
    write.setSg_list(new LinkedList<>(List.of(piece)));
    write.getRdma().setRemote_addr(Regions.address(far.memory));
    write.getRdma().setRkey(far.region.getRkey());
    SVCPostSend post = near.queuePair.postSend(List.of(write), List.of());
    post.execute();
    IbvWC[] completions = {new IbvWC()};
    SVCPollCq poll = near.queue.poll(completions, 1);
    long begin = System.nanoTime();
    while (poll.execute().getPolls() == 0) {
      assertTrue(System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS));
    }
    assertEquals(CompletionLayout.SUCCESS, completions[0].getStatus());
    assertEquals(7, completions[0].getWr_id());
    assertEquals(42, far.memory.getLong(0));
    post.free();
    poll.free();

    client.disconnect();
    await(serverEvents, EventLayout.DISCONNECTED);
    near.close(client);
    far.close(server);
    listener.destroyId();
    serverEvents.destroyEventChannel();
    clientEvents.destroyEventChannel();
  }

  private static RdmaCmEvent await(RdmaEventChannel channel, int type) throws IOException {
    RdmaCmEvent event = channel.getCmEvent(TIMEOUT_MS);
    assertTrue(event != null, "timeout");
    assertEquals(type, event.getEvent());
    event.ackEvent();
    return event;
  }
}
