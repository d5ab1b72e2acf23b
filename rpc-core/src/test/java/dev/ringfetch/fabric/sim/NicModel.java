package dev.ringfetch.fabric.sim;

/**
 * What a network card costs, for the curves of published systems. A work request waits for the
 * sender's outbound engine, the wire, and the receiver's inbound engine; each engine serves one at
 * a time, no faster than its rate and the bandwidth let it.
 *
 * @param name for people.
 * @param postNs time of the CPU to post one work request.
 * @param outboundPerSecond work requests that a card can issue.
 * @param inboundPerSecond work requests of others that a card can serve.
 * @param bitsPerSecond bandwidth of a card, each way.
 * @param wireNs one way, from card to card.
 * @param cachedConnections whose state a card has at hand; with more in use some are missed.
 * @param missNs how much longer an engine is busy with a work request whose connection is missed.
 */
public record NicModel(
    String name,
    double postNs,
    double outboundPerSecond,
    double inboundPerSecond,
    double bitsPerSecond,
    double wireNs,
    int cachedConnections,
    double missNs) {

  /** Costs nothing: only the simulator's own delays count. */
  public static final NicModel FREE =
      new NicModel("free", 0, 1e12, 1e12, 1e15, 0, Integer.MAX_VALUE, 0);

  /**
   * ConnectX-3 at 40 Gb/s as RFP measured it (EuroSys'17, section 2): 11.26 M inbound and 2.11 M
   * outbound one-sided operations a second at 32 bytes, no difference from 2 KB on. 400 cached
   * connections are ScaleRPC's (EuroSys'19). Posting, wire and miss are not published there: they
   * are set so that a fetched call of two round trips takes RFP's 5.78 us.
   */
  public static final NicModel CONNECT_X3 =
      new NicModel("ConnectX-3, 40 Gb/s (RFP)", 100, 2.11e6, 11.26e6, 40e9, 850, 400, 300);

  /** The same card, with the state of so many connections at hand. */
  public NicModel caching(int connections) {
    return new NicModel(
        name,
        postNs,
        outboundPerSecond,
        inboundPerSecond,
        bitsPerSecond,
        wireNs,
        connections,
        missNs);
  }

  /** Time that the outbound engine is busy with one work request, in nanoseconds. */
  double outboundNs(int bytes) {
    return Math.max(1e9 / outboundPerSecond, bytes * 8e9 / bitsPerSecond);
  }

  /** Time that the inbound engine is busy with one work request, in nanoseconds. */
  double inboundNs(int bytes) {
    return Math.max(1e9 / inboundPerSecond, bytes * 8e9 / bitsPerSecond);
  }
}
