package dev.ringfetch.fabric.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
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
      long servedNs = server.serve(nics[next].issue(freeNs[next], 0), bytes);
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
      endNs = nics[request % clients].serve(server.issue(0, bytes), bytes);
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

  /** The model is an option of the network: a read through it takes the way there and back. */
  @Test
  void workRequestsOfAFabricCost() throws IOException {
    long free = readNs(NicModel.FREE);
    long priced = readNs(NicModel.CONNECT_X3);
    assertTrue(priced - free > 2 * NicModel.CONNECT_X3.wireNs(), free + " and " + priced);
  }

  private static long readNs(NicModel model) throws IOException {
    Timeline timeline = new Timeline(1);
    SimNetwork network =
        new SimNetwork(
            timeline,
            new SimContext().loadStore(false).maxDelayNs(10).nic(model).preemption(() -> {}));
    SimFabric server = network.open();
    SimFabric client = network.open();
    byte[] token = new byte[16];
    var offer = server.offer(server.openDoorbell(), client.hint(), 128, token, arrived -> {});
    var reading = client.connect(client.openDoorbell(), offer.descriptor(), token, 0);
    long startNs = timeline.nowNs();
    reading.read(reading.remote(), 0, reading.memory(), 64, 64, 0, 1);
    while (reading.completions().poll((id, status, value) -> {}, 1) == 0) {
      assertTrue(timeline.runNext());
    }
    return timeline.nowNs() - startNs;
  }
}
