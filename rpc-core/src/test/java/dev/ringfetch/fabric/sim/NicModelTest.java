package dev.ringfetch.fabric.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Closed loops over the costs alone: as many work requests a second as were published. */
class NicModelTest {
  private static final int CLIENTS = 35;
  private static final int REQUESTS = 20_000;

  private static Nic nic(int connections) {
    Nic nic = new Nic(NicModel.CONNECT_X3);
    for (int i = 0; i < connections; i++) {
      nic.connected();
    }
    return nic;
  }

  /** Clients read from one server, each one at a time. Returns requests a second. */
  private static double inbound(int clients, int bytes) {
    Nic server = nic(clients);
    Nic[] nics = new Nic[clients];
    long[] freeNs = new long[clients];
    for (int i = 0; i < clients; i++) {
      nics[i] = nic(1);
    }
    long endNs = 0;
    for (int request = 0; request < REQUESTS; request++) {
      int next = 0;
      for (int i = 1; i < clients; i++) {
        next = freeNs[i] < freeNs[next] ? i : next;
      }
      long servedNs = nics[next].send(freeNs[next], server, 0, bytes);
      freeNs[next] = servedNs + nics[next].returnNs();
      endNs = Math.max(endNs, servedNs);
    }
    return REQUESTS * 1e9 / endNs;
  }

  /** One server writes to its clients as fast as it can. */
  private static double outbound(int clients, int bytes) {
    Nic server = nic(clients);
    Nic[] nics = new Nic[clients];
    for (int i = 0; i < clients; i++) {
      nics[i] = nic(1);
    }
    long endNs = 0;
    for (int request = 0; request < REQUESTS; request++) {
      endNs = server.send(0, nics[request % clients], bytes, bytes);
    }
    return REQUESTS * 1e9 / endNs;
  }

  @Test
  void smallRequestsAreServedFasterThanIssued() {
    assertEquals(11.26e6, inbound(CLIENTS, 32), 0.02 * 11.26e6);
    assertEquals(2.11e6, outbound(CLIENTS, 32), 0.02 * 2.11e6);
  }

  @Test
  void bandwidthMakesThemEqual() {
    double bound = 40e9 / 8 / 4096;
    assertEquals(bound, inbound(CLIENTS, 4096), 0.02 * bound);
    assertEquals(bound, outbound(CLIENTS, 4096), 0.02 * bound);
  }

  @Test
  void connectionsBeyondTheCacheCost() {
    double cached = outbound(NicModel.CONNECT_X3.cachedConnections(), 32);
    assertEquals(outbound(10, 32), cached, 0.02 * cached);
    assertTrue(outbound(2 * NicModel.CONNECT_X3.cachedConnections(), 32) < 0.9 * cached);
  }
}
