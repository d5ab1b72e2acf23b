package dev.ringfetch.session;

import dev.ringfetch.fabric.BufferedRegion;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A fabric whose offers the test takes, or has fail. */
public final class ManualFabric implements FabricProvider, Fabric {
  private final String name;
  private final List<Offered> offers = new ArrayList<>();
  public volatile IOException failure;
  public volatile Error error;
  public volatile Error memoryError;
  public volatile Runnable inOffer = () -> {};

  public ManualFabric(String name) {
    this.name = name;
  }

  public synchronized int offered() {
    return offers.size();
  }

  /** The offer that was made first and is not taken. */
  public synchronized Offered first() {
    return offers.get(0);
  }

  /** Takes the offer that is there, as a peer with the right token does. */
  public synchronized Offered take() {
    return offers.remove(0);
  }

  private synchronized void add(Offered offer) {
    offers.add(offer);
  }

  private synchronized void remove(Offered offer) {
    offers.remove(offer);
  }

  public void connect(Poller poller) {
    poller.execute(() -> take().connect());
  }

  @Override
  public Offer offer(
      Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener)
      throws IOException {
    if (failure != null) {
      throw failure;
    }
    if (error != null) {
      throw error;
    }
    final Offered offer = new Offered(peerHint, length, token, listener);
    add(offer);
    inOffer.run();
    return offer;
  }

  /** An offer, of little memory whatever was asked for. */
  public final class Offered implements Offer {
    private final HeapFabric heap =
        new HeapFabric(new DirectRegion(ArenaDescriptor.length(4096, 4096)));
    private final OfferListener listener;
    public final byte[] peerHint;
    public final int length;
    public final byte[] token;

    Offered(byte[] peerHint, int length, byte[] token, OfferListener listener) {
      this.peerHint = peerHint;
      this.length = length;
      this.token = token;
      this.listener = listener;
    }

    public QueuePair connect() {
      listener.onConnected(heap.server());
      return heap.server();
    }

    /** The memory as the peer sees it. */
    public DirectRegion peerMemory() {
      return heap.region();
    }

    @Override
    public byte[] descriptor() {
      return new byte[] {1, 2, 3};
    }

    @Override
    public MemoryRegion memory() {
      if (memoryError != null) {
        throw memoryError;
      }
      return new BufferedRegion(heap.region(), null); // the peer sees what is behind a fence
    }

    @Override
    public void close() {
      remove(this);
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int priority() {
    return 0;
  }

  @Override
  public String unavailability() {
    return null;
  }

  @Override
  public Fabric open(FabricContext context) {
    return this;
  }

  @Override
  public FabricCapabilities capabilities() {
    return new FabricCapabilities(
        FabricCapabilities.WriteOrder.ASCENDING, FabricCapabilities.ReadAtomicity.LINE, true, 0);
  }

  @Override
  public byte[] hint() {
    return new byte[0];
  }

  @Override
  public Doorbell openDoorbell() {
    return new Sleeping();
  }

  @Override
  public QueuePair connect(
      Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}

  /** Sleeps until it is woken: nobody rings. */
  private static final class Sleeping implements Doorbell {
    private final HeapDoorbell state = new HeapDoorbell();
    private boolean woken;

    @Override
    public synchronized int await(long timeoutNs) throws IOException {
      try {
        while (!woken) {
          wait();
        }
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      woken = false;
      return state.poll();
    }

    @Override
    public int poll() {
      return state.poll();
    }

    @Override
    public synchronized void wakeup() {
      woken = true;
      notifyAll();
    }

    @Override
    public void close() {
      state.close();
    }
  }
}
