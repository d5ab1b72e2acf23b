package dev.ringfetch.index.replication;

/**
 * What a network card takes for a work request: the sender's outbound engine, the wire, and the
 * receiver's inbound engine, each engine one at a time.
 *
 * @param postNs time of a core to post one work request
 * @param outboundPerSecond work requests that a card issues
 * @param inboundPerSecond work requests of others that a card serves
 * @param bitsPerSecond bandwidth each way
 * @param wireNs one way, from card to card
 */
record CardRates(
    double postNs,
    double outboundPerSecond,
    double inboundPerSecond,
    double bitsPerSecond,
    double wireNs) {
  /**
   * ConnectX-3 at 40 Gb/s as RFP measured it (EuroSys'17, section 2): 11.26 M inbound and 2.11 M
   * outbound operations a second over reliable connections. Posting and wire are not published
   * there: they are set so that a call of two round trips takes RFP's 5.78 us. The same as {@code
   * NicModel.CONNECT_X3} of rpc-core's simulator.
   */
  static final CardRates CONNECT_X3 = new CardRates(100, 2.11e6, 11.26e6, 40e9, 850);

  /**
   * ConnectX-3 at 56 Gb/s as HERD measured it (SIGCOMM'14): 26 M READs a second inbound, and 26 M
   * answers a second outbound, which are short datagrams. Posting and wire as above.
   */
  static final CardRates CONNECT_X3_FDR = new CardRates(100, 26e6, 26e6, 56e9, 850);

  double outboundNs(int bytes) {
    return Math.max(1e9 / outboundPerSecond, bytes * 8e9 / bitsPerSecond);
  }

  double inboundNs(int bytes) {
    return Math.max(1e9 / inboundPerSecond, bytes * 8e9 / bitsPerSecond);
  }
}
