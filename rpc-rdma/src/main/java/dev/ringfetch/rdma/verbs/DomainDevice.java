package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmId;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.QueuePairLayout;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;

/**
 * The objects of a device that a domain, or a connection to one, has to itself: a protection domain
 * and a completion queue. What is registered or created here belongs to the caller, and ends before
 * {@link #release}.
 *
 * <p>May be used from any thread; its owner sees to it that nothing uses it after its release.
 */
final class DomainDevice {
  private static final Logger LOGGER = System.getLogger(DomainDevice.class.getName());

  /** As much as is worth copying. The device may grant less. */
  private static final int WANTED_INLINE = 256;

  private final DeviceAddresses devices; // held until the end
  private final long device; // handle of its context, entered until the end
  private IbvPd domain;
  private IbvCompChannel channel; // of no events: a completion queue has to have one
  private IbvCQ completions;

  /**
   * A queue pair.
   *
   * @param handle of it.
   * @param maxInline longest data in bytes that a post copies.
   */
  record Opened(long handle, int maxInline) {}

  private DomainDevice(DeviceAddresses devices, long device) {
    this.devices = devices.hold();
    this.device = device;
    OpenDevices.enter(device);
  }

  /**
   * Opens it.
   *
   * @param devices held by the caller.
   * @param depth of the completion queue.
   */
  static DomainDevice open(DeviceAddresses devices, IbvContext context, int depth)
      throws IOException {
    final DomainDevice opened = new DomainDevice(devices, Disni.handle(context));
    boolean complete = false;
    try {
      opened.domain = context.allocPd();
      opened.channel = context.createCompChannel();
      opened.completions = context.createCQ(opened.channel, depth, 0);
      complete = true;
      return opened;
    } finally {
      if (!complete) {
        opened.release();
      }
    }
  }

  IbvPd domain() {
    return domain;
  }

  /** Handle of the completion queue. */
  long completions() {
    return Disni.handle(completions);
  }

  /** Allocates and registers memory. */
  VerbsMemory register(int length, int access) throws IOException {
    return VerbsMemory.register(domain, length, access);
  }

  /** Registers memory that is there already. */
  VerbsMemory adopt(MemoryRegion memory, int access) throws IOException {
    return VerbsMemory.adopt(domain, memory, access);
  }

  /** Ends a registration; nothing reaches the memory through the device when this returns. */
  static void deregister(VerbsMemory memory) {
    try {
      memory.deregister();
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "memory stays registered", e);
    }
  }

  /**
   * Creates the queue pair of an id, which {@link #destroy} frees.
   *
   * @param sends requests that it has room for.
   * @throws IOException also when the id is at another device.
   */
  Opened createQueuePair(RdmaCmId id, int sends) throws IOException {
    if (Disni.handle(id.getVerbs()) != device) {
      throw new IOException("the peer came by another device than that of the memory");
    }
    final ByteBuffer capacity = Request.direct(QueuePairLayout.CAPACITY_SIZE);
    capacity
        .putInt(QueuePairLayout.MAX_SENDS, sends)
        .putInt(QueuePairLayout.MAX_RECEIVES, 1)
        .putInt(QueuePairLayout.MAX_SEND_SCATTERS, 1)
        .putInt(QueuePairLayout.MAX_RECEIVE_SCATTERS, 1)
        .putInt(QueuePairLayout.MAX_INLINE, sends > 1 ? WANTED_INLINE : 0);
    final long queuePair =
        QueuePairs.create(
            Disni.handle(id),
            Disni.handle(domain),
            completions(),
            completions(),
            Regions.address(capacity));
    return new Opened(queuePair, capacity.getInt(QueuePairLayout.MAX_INLINE));
  }

  /** Ends an id's connection, if there is one: the peer is told, and requests are flushed. */
  static void disconnect(RdmaCmId id) {
    try {
      Disni.check("rdma_disconnect", id.disconnect());
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "it had ended already", e);
    }
  }

  /** Frees an id and its queue pair, after which the device touches no memory for it any more. */
  static void destroy(RdmaCmId id) {
    QueuePairs.destroy(Disni.handle(id));
    Disni.giveBack(id, RdmaCmId::destroyId);
  }

  /** Marks the device as removed: it is released with the last object that is bound to it. */
  void removed() {
    OpenDevices.remove(device);
  }

  /** Frees everything. Once, after the queue pairs and the registrations. */
  void release() {
    Disni.giveBack(completions, IbvCQ::destroyCQ);
    Disni.giveBack(channel, IbvCompChannel::destroyCompChannel);
    Disni.giveBack(domain, IbvPd::deallocPd);
    OpenDevices.leave(device);
    devices.close();
  }
}
