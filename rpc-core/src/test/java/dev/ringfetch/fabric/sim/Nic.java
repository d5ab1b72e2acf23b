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
   * The outbound engine issues a work request, after those before.
   *
   * @param bytes payload that goes out with it: of a WRITE all, of a READ none.
   * @return when it arrives at the other card, in nanoseconds.
   */
  long issue(long nowNs, int bytes) {
    final double start = Math.max(nowNs + model.postNs(), outboundFreeNs);
    outboundFreeNs = start + model.outboundNs(bytes, connections);
    return (long) (outboundFreeNs + model.wireNs());
  }

  /**
   * The inbound engine serves a work request of another card, after those that arrived before. To
   * be called when it arrives: not before others that arrive earlier.
   *
   * @param bytes payload that it moves.
   * @return when it is served, in nanoseconds.
   */
  long serve(long nowNs, int bytes) {
    inboundFreeNs = Math.max((double) nowNs, inboundFreeNs) + model.inboundNs(bytes, connections);
    return (long) inboundFreeNs;
  }

  /** Time of the way back, for an answer or an acknowledgement. */
  long returnNs() {
    return (long) model.wireNs();
  }
}
