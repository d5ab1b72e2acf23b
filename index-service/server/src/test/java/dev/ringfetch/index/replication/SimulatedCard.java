package dev.ringfetch.index.replication;

/** A node's network card in simulated time: its two engines. */
final class SimulatedCard {
  private final SimulatedTime time;
  private final CardRates rates;
  private double outboundFreeNs;
  private double inboundFreeNs;
  private long issued;

  SimulatedCard(SimulatedTime time, CardRates rates) {
    this.time = time;
    this.rates = rates;
  }

  CardRates rates() {
    return rates;
  }

  /** Work requests that it has issued. */
  long issued() {
    return issued;
  }

  /**
   * Issues a work request, after those before.
   *
   * @param bytes that go out with it
   * @param arrived what happens when it arrives
   */
  void issue(int bytes, Runnable arrived) {
    issued++;
    outboundFreeNs = Math.max((double) time.nowNs(), outboundFreeNs) + rates.outboundNs(bytes);
    time.at((long) (outboundFreeNs + rates.wireNs()), arrived);
  }

  /**
   * Serves a work request that has arrived, after those before.
   *
   * @param bytes that it moves
   * @param served what happens when it is done
   */
  void serve(int bytes, Runnable served) {
    inboundFreeNs = Math.max((double) time.nowNs(), inboundFreeNs) + rates.inboundNs(bytes);
    time.at((long) inboundFreeNs, served);
  }
}
