package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.Fabric;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Memory on offer, until one peer takes it. */
final class SimOffer implements Fabric.Offer {
  private final SimFabric process;
  private final SimDoorbell doorbell;
  private final SimRegion memory;
  private final byte[] token;
  private final Fabric.OfferListener listener;
  private final long id;
  private boolean accepted;

  SimOffer(
      SimFabric process,
      SimDoorbell doorbell,
      SimRegion memory,
      byte[] token,
      Fabric.OfferListener listener,
      long id) {
    this.process = process;
    this.doorbell = doorbell;
    this.memory = memory;
    this.token = token.clone();
    this.listener = listener;
    this.id = id;
  }

  SimFabric process() {
    return process;
  }

  SimDoorbell doorbell() {
    return doorbell;
  }

  Fabric.OfferListener listener() {
    return listener;
  }

  long id() {
    return id;
  }

  boolean isToken(byte[] presented) {
    return Arrays.equals(token, presented);
  }

  boolean isAccepted() {
    return accepted;
  }

  void accept() {
    accepted = true;
  }

  @Override
  public byte[] descriptor() {
    return ByteBuffer.allocate(Long.BYTES).putLong(id).array();
  }

  @Override
  public SimRegion memory() {
    return memory;
  }

  @Override
  public void close() {
    final SimNetwork network = process.network();
    synchronized (network) {
      if (network.offers().remove(id) != null) {
        memory.leave();
        network.regions().remove(memory);
      }
    }
  }
}
