package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.MemoryRegion;
import java.security.MessageDigest;

/**
 * An offer of memory. The peer's arrival or the close, whichever removes it from {@link Arrivals}
 * first, owns the file.
 */
final class ShmOffer implements Fabric.Offer {
  private final Arrivals arrivals;
  private final SessionAddress address;
  private final byte[] token;
  private final SessionFile file;
  private final Fabric.OfferListener listener;

  ShmOffer(
      Arrivals arrivals,
      SessionAddress address,
      byte[] token,
      SessionFile file,
      Fabric.OfferListener listener) {
    this.arrivals = arrivals;
    this.address = address;
    this.token = token.clone();
    this.file = file;
    this.listener = listener;
  }

  SessionAddress address() {
    return address;
  }

  SessionFile file() {
    return file;
  }

  Fabric.OfferListener listener() {
    return listener;
  }

  /** Compares tokens in constant time. */
  boolean isToken(byte[] presented) {
    return MessageDigest.isEqual(token, presented);
  }

  @Override
  public byte[] descriptor() {
    return address.encode();
  }

  @Override
  public MemoryRegion memory() {
    return file.region();
  }

  @Override
  public void close() {
    if (arrivals.take(this)) {
      discard();
    }
  }

  /** Frees the memory of an offer that no peer has taken. */
  void discard() {
    file.unlink();
    file.truncate();
    file.close();
  }

  @Override
  public String toString() {
    return "ShmOffer[" + address.process() + "/session-" + address.session() + "]";
  }
}
