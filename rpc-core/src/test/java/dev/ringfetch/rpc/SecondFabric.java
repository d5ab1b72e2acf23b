package dev.ringfetch.rpc;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.QueuePair;
import java.io.IOException;
import java.util.ServiceLoader;

/** Shared memory under another name: a fabric without a known security level. */
public final class SecondFabric implements FabricProvider {
  static final String NAME = "second";

  private final String name;
  private final int priority;
  private volatile String obstacle;
  private volatile Error broken;
  private volatile int connects;

  /** Made by {@link ServiceLoader}. */
  public SecondFabric() {
    this(NAME, 1);
  }

  SecondFabric(String name, int priority) {
    this.name = name;
    this.priority = priority;
  }

  /** Connects fail for this reason, or for none if it is null. */
  void unreachable(String reason) {
    obstacle = reason;
  }

  /** It cannot be opened. */
  void broken(Error error) {
    broken = error;
  }

  /** How often a client wanted to connect. */
  int connects() {
    return connects;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int priority() {
    return priority;
  }

  @Override
  public String unavailability() {
    return null;
  }

  @Override
  public Fabric open(FabricContext context) throws IOException {
    if (broken != null) {
      throw broken;
    }
    for (final FabricProvider provider : ServiceLoader.load(FabricProvider.class)) {
      if (provider.name().equals("shm")) {
        return new Renamed(provider.open(context));
      }
    }
    throw new IOException("no shm");
  }

  private synchronized void connecting() throws IOException {
    connects++;
    if (obstacle != null) {
      throw new IOException(obstacle);
    }
  }

  private final class Renamed implements Fabric {
    private final Fabric shm;

    Renamed(Fabric shm) {
      this.shm = shm;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public FabricCapabilities capabilities() {
      return shm.capabilities();
    }

    @Override
    public byte[] hint() {
      return shm.hint();
    }

    @Override
    public Doorbell openDoorbell() throws IOException {
      return shm.openDoorbell();
    }

    @Override
    public Offer offer(
        Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener)
        throws IOException {
      return shm.offer(doorbell, peerHint, length, token, listener);
    }

    @Override
    public QueuePair connect(
        Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams)
        throws IOException {
      connecting();
      return shm.connect(doorbell, descriptor, token, timeoutNs, datagrams);
    }

    @Override
    public void close() {
      shm.close();
    }
  }
}
