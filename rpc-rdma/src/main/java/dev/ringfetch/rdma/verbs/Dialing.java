package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import dev.ringfetch.rdma.natives.AddressLayout;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The connecting side's talk with the connection manager, under one deadline: tries the addresses
 * of a peer one after the other, each with its share of the remaining time, until a host answers at
 * one. Belongs to the thread that connects, and takes events from a channel of each address's own.
 */
final class Dialing {
  /** How long one wait takes at the most, after which an interrupt is noticed. */
  private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Status of a rejection by the peer's program. */
  private static final int BY_THE_PEER = 28;

  private final OpenCheck owner;
  private final long timeoutNs;
  private final long startNs = System.nanoTime();
  private final ByteBuffer event = Request.direct(EventLayout.SIZE);

  // Of the address that is tried.
  private InetSocketAddress address;
  private RdmaEventChannel channel;
  private long limitNs;

  /** Creates it, for an owner that may close meanwhile. */
  Dialing(OpenCheck owner, long timeoutNs) {
    this.owner = owner;
    this.timeoutNs = timeoutNs;
  }

  /** Thrown when the peer has rejected; it would reject at its other addresses, too. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    RefusedException(String message) {
      super(message);
    }
  }

  /** Throws when the side that connects has been closed. */
  @FunctionalInterface
  interface OpenCheck {
    void checkOpen() throws IOException;
  }

  /** Connects at one address, to which {@link #begin} belongs. */
  @FunctionalInterface
  interface Attempt<T> {
    T connect() throws IOException;
  }

  /** Makes the attempt at each address until one succeeds, or throws with the reason. */
  <T> T tryAll(List<InetAddress> hosts, int port, Attempt<T> attempt) throws IOException {
    IOException first = null;
    int left = hosts.size();
    for (final InetAddress host : hosts) {
      address = new InetSocketAddress(host, port);
      final long passedNs = System.nanoTime() - startNs;
      limitNs = passedNs + (timeoutNs - passedNs) / left--;
      try {
        return attempt.connect();
      } catch (RefusedException | InterruptedIOException e) {
        throw e;
      } catch (IOException e) {
        final IOException failed =
            new IOException("cannot connect to " + address + ": " + e.getMessage(), e);
        if (first == null) {
          first = failed;
        } else {
          first.addSuppressed(failed);
        }
      }
    }
    throw first;
  }

  /** The address that is tried. */
  InetSocketAddress address() {
    return address;
  }

  /** Creates the channel of the address's events, which is the caller's. */
  RdmaEventChannel begin() throws IOException {
    channel = RdmaEventChannel.createEventChannel();
    return channel;
  }

  /** Binds an id of the channel to the device that leads to the address. */
  void resolve(RdmaCmId id) throws IOException {
    final ByteBuffer destination = Request.direct(AddressLayout.SIZE);
    AddressLayout.encode(address, destination);
    ConnectionManager.resolveAddress(Disni.handle(id), 0, Regions.address(destination), leftMs());
    await(EventLayout.ADDRESS_RESOLVED);
    Endpoint.setTimeouts(id);
    id.resolveRoute(leftMs());
    await(EventLayout.ROUTE_RESOLVED);
    // There is a host. A request that it answers late has taken the offer, so no other is tried.
    limitNs = timeoutNs;
  }

  /** Connects an id with a queue pair; returns the private data of the peer's answer. */
  ByteBuffer present(RdmaCmId id, ByteBuffer data) throws IOException {
    ConnectionManager.connect(
        Disni.handle(id),
        ConnectionManager.ALL,
        Endpoint.RETRIES,
        Endpoint.RNR_RETRIES,
        Regions.address(data),
        data.capacity());
    await(EventLayout.ESTABLISHED);
    return privateData(event);
  }

  private void await(int wanted) throws IOException {
    boolean any;
    do {
      any = nextEvent(SLICE_NS);
    } while (!any);
    if (event.getInt(EventLayout.TYPE) != wanted) {
      throw failed();
    }
  }

  /** Waits for an event for a while. Returns whether there was one. */
  boolean nextEvent(long sliceNs) throws IOException {
    final int sliceMs = (int) Math.min(sliceNs / NS_PER_MS, leftMs());
    final int count =
        ConnectionManager.nextEvent(Disni.handle(channel), Regions.address(event), sliceMs);
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("interrupted while connecting");
    }
    owner.checkOpen();
    if (count < 0) {
      throw new IOException("no events: " + Errors.errnoText(count));
    }
    return count > 0;
  }

  private IOException failed() {
    final int type = event.getInt(EventLayout.TYPE);
    final int status = event.getInt(EventLayout.STATUS);
    if (type == EventLayout.REJECTED && status == BY_THE_PEER) {
      return new RefusedException(
          address + " refused: " + Introduction.decodeReason(privateData(event)));
    }
    if (type == EventLayout.REJECTED) {
      return new IOException("nobody listens there: status=" + status);
    }
    final String why = status < 0 ? Errors.errnoText(status) : "status=" + status;
    return new IOException(Errors.connectionEventText(type) + ": " + why);
  }

  /** Private data of an event. */
  static ByteBuffer privateData(ByteBuffer event) {
    final byte[] data = new byte[event.getInt(EventLayout.PRIVATE_LENGTH)];
    event.get(EventLayout.PRIVATE_DATA, data);
    return ByteBuffer.wrap(data);
  }

  /** Time that is left for this address, in milliseconds, rounded up; never 0. */
  private int leftMs() throws IOException {
    final long leftNs = limitNs - (System.nanoTime() - startNs);
    if (leftNs <= 0) {
      throw new IOException("no answer in time: timeoutNs=" + timeoutNs);
    }
    return (int) Math.min(Integer.MAX_VALUE, leftNs / NS_PER_MS + 1);
  }
}
