package dev.ringfetch.examples.verbs;

import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.ScatterLayout;
import dev.ringfetch.rdma.natives.SendLayout;
import java.nio.ByteBuffer;

/** A work request that is laid out once and posted again and again; only its flags change. */
final class BareRequest {
  private static final int SCATTER = SendLayout.SIZE;

  private final ByteBuffer layout = Request.direct(SendLayout.SIZE + ScatterLayout.SIZE);
  private final long address = Regions.address(layout);
  private final int flags;

  /**
   * Lays it out.
   *
   * @param opcode of {@link SendLayout}.
   * @param flags that each post has.
   * @param local address of the memory that is sent, or that a READ fills.
   * @param key of that memory.
   */
  private BareRequest(int opcode, int flags, long local, int key) {
    this.flags = flags;
    layout
        .putLong(SendLayout.ID, opcode)
        .putLong(SendLayout.SCATTER, address + SCATTER)
        .putInt(SendLayout.SCATTER_COUNT, 1)
        .putInt(SendLayout.OPCODE, opcode)
        .putLong(SCATTER + ScatterLayout.ADDRESS, local)
        .putInt(SCATTER + ScatterLayout.LENGTH, BareFrame.TRANSFER_LENGTH)
        .putInt(SCATTER + ScatterLayout.KEY, key);
  }

  /** WRITEs the frame of a slot, from its payload on, to the same part of the peer's slot. */
  static BareRequest write(BareEnd end, int slot, BareGreeting peer, int peerSlot) {
    final BareRequest request =
        new BareRequest(
            SendLayout.WRITE,
            end.inlineFlag(),
            end.address(slot + BareFrame.PAYLOAD),
            end.localKey());
    request
        .layout
        .putLong(SendLayout.REMOTE_ADDRESS, peer.memory() + peerSlot + BareFrame.PAYLOAD)
        .putInt(SendLayout.REMOTE_KEY, peer.key());
    return request;
  }

  /** READs the frame of the peer's slot, from its head on, to the same part of a slot. */
  static BareRequest read(BareEnd end, int slot, BareGreeting peer, int peerSlot) {
    final BareRequest request =
        new BareRequest(
            SendLayout.READ,
            SendLayout.SIGNALED,
            end.address(slot + BareFrame.HEAD),
            end.localKey());
    request
        .layout
        .putLong(SendLayout.REMOTE_ADDRESS, peer.memory() + peerSlot + BareFrame.HEAD)
        .putInt(SendLayout.REMOTE_KEY, peer.key());
    return request;
  }

  /** SENDs the frame of a slot, from its payload on, as a datagram. */
  static BareRequest datagram(BareEnd end, int slot, BareDatagrams from, BareGreeting to) {
    final BareRequest request =
        new BareRequest(
            SendLayout.SEND,
            from.inlineFlag(),
            end.address(slot + BareFrame.PAYLOAD),
            end.localKey());
    request
        .layout
        .putLong(SendLayout.DATAGRAM_HANDLE, from.handle())
        .putInt(SendLayout.DATAGRAM_QUEUE_PAIR, to.datagrams())
        .putInt(SendLayout.DATAGRAM_QUEUE_KEY, BareDatagrams.QUEUE_KEY);
    return request;
  }

  /** Address of the request, which is to complete in the queue or need not. */
  long address(boolean signaled) {
    layout.putInt(SendLayout.FLAGS, signaled ? flags | SendLayout.SIGNALED : flags);
    return address;
  }
}
