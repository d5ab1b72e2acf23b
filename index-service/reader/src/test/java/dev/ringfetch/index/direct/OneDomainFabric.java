package dev.ringfetch.index.direct;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;

/** A fabric with one domain to connect to. */
record OneDomainFabric(RemoteDomain domain) implements Fabric {
  @Override
  public RemoteDomain connectDomain(byte[] descriptor, byte[] token, long timeoutNs) {
    return domain;
  }

  @Override
  public String name() {
    return "card";
  }

  @Override
  public FabricCapabilities capabilities() {
    return domain.capabilities();
  }

  @Override
  public byte[] hint() {
    return new byte[0];
  }

  @Override
  public Doorbell openDoorbell() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Offer offer(
      Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener) {
    throw new UnsupportedOperationException();
  }

  @Override
  public QueuePair connect(
      Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
