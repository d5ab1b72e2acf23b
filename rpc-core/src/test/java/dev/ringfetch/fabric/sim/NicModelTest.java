package dev.ringfetch.fabric.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Closed loops over the costs alone: as many work requests a second as were published. */
class NicModelTest {
  private static final int CLIENTS = 35;
  private static final int REQUESTS = 20_000;

  private final Timeline timeline = new Timeline(1);
  private int begun;
  private long endNs;

  private Nic card() {
    return new Nic(NicModel.CONNECT_X3, timeline);
  }

  private static Nic.Connection[] connect(Nic nic, int connections) {
    return Stream.generate(nic::connect).limit(connections).toArray(Nic.Connection[]::new);
  }

  private double perSecond(long startNs) {
    while (timeline.runNext()) {}
    return REQUESTS * 1e9 / (endNs - startNs);
  }

  /** Clients read from one server, each one at a time. Returns requests a second. */
  private double inbound(int clients, int bytes) {
    final long startNs = timeline.nowNs();
    Nic server = card();
    begun = 0;
    for (Nic.Connection connection : connect(server, clients)) {
      Nic client = card();
      read(client, client.connect(), server, connection, bytes);
    }
    return perSecond(startNs);
  }

  private void read(
      Nic client, Nic.Connection own, Nic server, Nic.Connection connection, int bytes) {
    if (begun++ < REQUESTS) {
      client.issue(
          own,
          0,
          () ->
              server.serve(
                  connection,
                  bytes,
                  () -> {
                    endNs = timeline.nowNs();
                    timeline.after(
                        client.returnNs(),
                        "answer",
                        () -> read(client, own, server, connection, bytes));
                  }));
    }
  }

  /** One server writes to its clients in turn, as fast as it can. */
  private double outbound(int clients, int bytes) {
    final long startNs = timeline.nowNs();
    Nic server = card();
    Nic.Connection[] connections = connect(server, clients);
    Nic[] nics = Stream.generate(this::card).limit(clients).toArray(Nic[]::new);
    Nic.Connection[] own = Stream.of(nics).map(Nic::connect).toArray(Nic.Connection[]::new);
    for (int request = 0; request < REQUESTS; request++) {
      final int client = request % clients;
      server.issue(
          connections[client],
          bytes,
          () -> nics[client].serve(own[client], bytes, () -> endNs = timeline.nowNs()));
    }
    return perSecond(startNs);
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

  /** Of connections in use one after the other, those are missed that there is no room for. */
  @Test
  void onlyConnectionsInUseTakeRoom() {
    final int room = NicModel.CONNECT_X3.cachedConnections();
    Nic nic = card();
    Nic.Connection[] connections = connect(nic, 4 * room);
    assertEquals(0, missed(nic, connections, 0, room), "those at hand stay there");
    for (int i = 0; i < room; i++) {
      nic.disconnect(connections[i]);
    }
    assertEquals(room, missed(nic, connections, room, room), "there is room for others again");
    final long missed = missed(nic, connections, room, 3 * room);
    assertTrue(missed > REQUESTS / 2 && missed < REQUESTS, "missed: " + missed);
  }

  /** Issues over so many connections in turn, and returns how many were not at hand. */
  private long missed(Nic nic, Nic.Connection[] connections, int first, int count) {
    final long before = nic.misses();
    for (int request = 0; request < REQUESTS; request++) {
      nic.issue(connections[first + request % count], 32, () -> {});
    }
    while (timeline.runNext()) {}
    return nic.misses() - before;
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
