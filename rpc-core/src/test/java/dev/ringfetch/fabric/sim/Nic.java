package dev.ringfetch.fabric.sim;

/** A process's network card: its two engines, and until when each is busy. */
final class Nic {
  private final NicModel model;
  private int connections;
  private double outboundFreeNs;
  private double inboundFreeNs;

  Nic(NicModel model) {
    this.model = model;
  }

  void connected() {
    connections++;
  }

  void disconnected() {
    connections--;
  }

  /**
   * Sends a work request to another card.
   *
   * @param outBytes payload that goes out with it: of a WRITE all, of a READ none.
   * @param inBytes payload that the other card moves.
   * @return when it is served, in nanoseconds.
   */
  long send(long nowNs, Nic other, int outBytes, int inBytes) {
    final double start = Math.max(nowNs + model.postNs(), outboundFreeNs);
    outboundFreeNs = start + model.outboundNs(outBytes, connections);
    final double arrival = outboundFreeNs + model.wireNs();
    final double served = Math.max(arrival, other.inboundFreeNs);
    other.inboundFreeNs = served + other.model.inboundNs(inBytes, other.connections);
    return (long) other.inboundFreeNs;
  }

  /** Time of the way back, for an answer or an acknowledgement. */
  long returnNs() {
    return (long) model.wireNs();
  }
}
