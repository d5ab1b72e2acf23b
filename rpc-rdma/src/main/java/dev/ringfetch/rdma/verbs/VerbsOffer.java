package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.MemoryRegion;

/**
 * An offer: registered memory whose keys no peer knows yet. The thread that removes it from {@link
 * Arrivals} first, for a peer or for a close, owns the endpoint.
 */
final class VerbsOffer implements Fabric.Offer {
  private final Arrivals arrivals;
  private final OfferDescriptor descriptor;
  private final Introduction.Token token;
  private final Endpoint endpoint;
  private final Fabric.OfferListener listener;

  @GuardedBy("this")
  private VerbsQueuePair arriving; // accepted, and not connected yet

  @GuardedBy("this")
  private boolean withdrawn;

  VerbsOffer(
      Arrivals arrivals,
      OfferDescriptor descriptor,
      Introduction.Token token,
      Endpoint endpoint,
      Fabric.OfferListener listener) {
    this.arrivals = arrivals;
    this.descriptor = descriptor;
    this.token = token;
    this.endpoint = endpoint;
    this.listener = listener;
  }

  long id() {
    return descriptor.offer();
  }

  Introduction.Token token() {
    return token;
  }

  Endpoint endpoint() {
    return endpoint;
  }

  Fabric.OfferListener listener() {
    return listener;
  }

  /** Records that a peer has presented the token; it has yet to connect, and may never do so. */
  void letIn(VerbsQueuePair queuePair) {
    synchronized (this) {
      if (!withdrawn) {
        arriving = queuePair;
        return;
      }
    }
    queuePair.close();
  }

  /**
   * Records that the peer has connected. False if the offer was withdrawn before, and all is freed.
   */
  synchronized boolean isConnected() {
    arriving = null;
    return !withdrawn;
  }

  @Override
  public byte[] descriptor() {
    return descriptor.encode();
  }

  @Override
  public MemoryRegion memory() {
    return endpoint.memory();
  }

  @Override
  public void close() {
    if (arrivals.take(this)) {
      endpoint.release();
      return;
    }
    final VerbsQueuePair late;
    synchronized (this) {
      withdrawn = true;
      late = arriving;
      arriving = null;
    }
    if (late != null) {
      late.close(); // else the kernel would wait for its peer for a minute
    }
  }

  @Override
  public String toString() {
    return "VerbsOffer[" + descriptor.addresses() + ":" + descriptor.port() + "]";
  }
}
