package dev.ringfetch.fabric.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * A process's network card: its two engines, and the connections whose state it has at hand. One
 * that it has not takes the place of any other, at random: so do sets of few places, and a card
 * that goes round its connections does not miss them all.
 */
final class Nic {
  private final NicModel model;
  private final Timeline timeline;
  private final List<Connection> cached = new ArrayList<>();
  private final NicEngine outbound;
  private final NicEngine inbound;
  private int connections;
  private long misses;

  /** A connection of this card, as far as the card has its state. */
  static final class Connection {
    private static final int NONE = -1;

    private int place = NONE; // among those at hand
    private boolean closed; // what was under way may still come
  }

  Nic(NicModel model, Timeline timeline) {
    this.model = model;
    this.timeline = timeline;
    this.outbound = new NicEngine(timeline);
    this.inbound = new NicEngine(timeline);
  }

  /** A connection from now on: at hand if there is room. */
  Connection connect() {
    connections++;
    final Connection connection = new Connection();
    if (cached.size() < model.cachedConnections() && model.missNs() > 0) {
      put(connection);
    }
    return connection;
  }

  private void put(Connection connection) {
    connection.place = cached.size();
    cached.add(connection);
  }

  /** A connection is no more. */
  void disconnect(Connection connection) {
    connections--;
    connection.closed = true;
    if (connection.place != Connection.NONE) {
      final Connection last = cached.remove(cached.size() - 1);
      if (last != connection) {
        cached.set(connection.place, last);
        last.place = connection.place;
      }
      connection.place = Connection.NONE;
    }
  }

  /** How often a work request found the state of its connection not at hand. */
  long misses() {
    return misses;
  }

  /** What it takes to have a connection's state at hand, in nanoseconds. */
  private double load(Connection connection) {
    if (model.missNs() == 0 || connection.place != Connection.NONE || connection.closed) {
      return 0;
    }
    misses++;
    if (cached.size() < model.cachedConnections()) {
      put(connection);
    } else {
      final int place = timeline.random().nextInt(cached.size());
      cached.set(place, connection).place = Connection.NONE;
      connection.place = place;
    }
    return model.missNs();
  }

  /** Whether a connection is at hand when its time has come may depend on others until then. */
  private boolean mayMiss() {
    return connections > model.cachedConnections() && model.missNs() > 0;
  }

  /**
   * The outbound engine issues a work request, after those before.
   *
   * @param connection of the work request, at this card.
   * @param bytes payload that goes out with it: of a WRITE all, of a READ none.
   * @param arrives what happens when it arrives at the other card.
   */
  void issue(Connection connection, int bytes, Runnable arrives) {
    run(
        outbound,
        timeline.nowNs() + model.postNs(),
        connection,
        model.outboundNs(bytes),
        model.wireNs(),
        arrives);
  }

  /**
   * The inbound engine serves a work request of another card, after those that arrived before. To
   * be called when it arrives: not before others that arrive earlier.
   *
   * @param connection of the work request, at this card.
   * @param bytes payload that it moves.
   * @param served what happens when it is served.
   */
  void serve(Connection connection, int bytes, Runnable served) {
    run(inbound, (double) timeline.nowNs(), connection, model.inboundNs(bytes), 0, served);
  }

  private void run(
      NicEngine engine,
      double readyNs,
      Connection connection,
      double costNs,
      double afterNs,
      Runnable done) {
    if (engine.isBusy() || mayMiss()) {
      engine.submit(readyNs, () -> costNs + load(connection), afterNs, done);
    } else {
      final double doneNs = engine.submit(readyNs, costNs + load(connection)) + afterNs;
      final long leftNs = (long) doneNs - timeline.nowNs();
      if (leftNs <= 0 && engine == outbound) { // there already
        done.run();
      } else {
        timeline.after(Math.max(0, leftNs), "done", done);
      }
    }
  }

  /** Time of the way back, for an answer or an acknowledgement. */
  long returnNs() {
    return (long) model.wireNs();
  }
}
