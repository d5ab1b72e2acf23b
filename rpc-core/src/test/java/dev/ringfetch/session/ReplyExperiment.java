package dev.ringfetch.session;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.sim.NicModel;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.SimNetwork;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import org.agrona.concurrent.NanoClock;

/**
 * RFP's experiment (EuroSys'17): clients with one call each under way, one server whose threads are
 * busy with a request for some time, and in virtual time what their network cards take. Sessions
 * and rings are the real ones. Every thread has a processor of its own.
 */
final class ReplyExperiment {
  static final int UNIT = FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;
  static final byte[] MESSAGE = new byte[32];

  static final int SERVER_THREADS = 16;

  private static final long POLL_NS = 100;
  private static final long MAX_DELAY_NS = 8; // besides what cards take
  private static final long BEGIN_NS = 10_000; // within this time all have begun

  private final Setup setup;
  private final Timeline timeline;
  private final SimNetwork network;
  private final SessionContext context;
  private SimFabric serverFabric;
  private final List<ReplyServer> servers = new ArrayList<>();
  private final List<ReplyClient> clients = new ArrayList<>();
  private final PriorityQueue<ReplyThread> threads =
      new PriorityQueue<>(Comparator.comparingLong(ReplyThread::nextNs));

  /**
   * What is measured.
   *
   * @param mode of all clients.
   * @param nic of all machines.
   * @param processNs how long a request takes, by the time since the start; in nanoseconds.
   * @param clients that have a call each under way.
   * @param machines that they are spread over.
   * @param ringLength in bytes.
   * @param serverPollNs how long a server's round takes at the least, in nanoseconds.
   * @param clientPollNs how long a client's round takes at the least, in nanoseconds.
   * @param options of all sessions, further ones.
   */
  record Setup(
      ReplyPolicy mode,
      NicModel nic,
      LongUnaryOperator processNs,
      int clients,
      int machines,
      int ringLength,
      long serverPollNs,
      long clientPollNs,
      Consumer<SessionContext> options) {
    /** RFP's. */
    static Setup ofRfp(ReplyPolicy mode, NicModel nic, LongUnaryOperator processNs) {
      return new Setup(mode, nic, processNs, 35, 7, 16 * 1024, POLL_NS, POLL_NS, context -> {});
    }
  }

  /**
   * What was measured.
   *
   * @param callsPerSecond of virtual time.
   * @param latencyNs mean, in nanoseconds.
   * @param reads of the clients, by call.
   * @param clientWrites by call.
   * @param serverWrites by call.
   * @param misses of the server's card, by call.
   * @param fetching share of the clients that read their answers, at the end.
   */
  record Result(
      double callsPerSecond,
      double latencyNs,
      double reads,
      double clientWrites,
      double serverWrites,
      double misses,
      double fetching) {}

  private ReplyExperiment(long seed, Setup setup) {
    this.setup = setup;
    timeline = new Timeline(seed);
    network =
        new SimNetwork(
            timeline,
            new SimContext()
                .loadStore(false)
                .readAtomicity(ReadAtomicity.LINE)
                .maxDelayNs(MAX_DELAY_NS)
                .nic(setup.nic)
                .preemption(() -> {}));
    context =
        new SessionContext()
            .clock((NanoClock) timeline::nowNs) // a look takes no time: rounds do
            .spinNs(Long.MAX_VALUE)
            .replyPolicy(setup.mode);
    setup.options.accept(context);
  }

  /**
   * Runs it.
   *
   * @param warmUpNs virtual time before it is measured, in nanoseconds.
   * @param measureNs virtual time in which it is, in nanoseconds.
   */
  static Result run(long seed, Setup setup, long warmUpNs, long measureNs) {
    try {
      final ReplyExperiment experiment = new ReplyExperiment(seed, setup);
      experiment.connect();
      return experiment.measure(warmUpNs, measureNs);
    } catch (IOException e) {
      throw new AssertionError("seed=" + seed, e);
    }
  }

  private void connect() throws IOException {
    final SimFabric server = network.open();
    serverFabric = server;
    final long startNs = timeline.nowNs();
    for (int i = 0; i < SERVER_THREADS; i++) {
      final Poller poller = new Poller(server.openDoorbell(), context);
      servers.add(
          new ReplyServer(
              timeline,
              poller,
              beginNs(),
              setup.serverPollNs,
              now -> setup.processNs.applyAsLong(now - startNs)));
    }
    final List<SimFabric> machines = new ArrayList<>();
    for (int i = 0; i < setup.machines; i++) {
      machines.add(network.open());
    }
    for (int i = 0; i < setup.clients; i++) {
      connect(server, servers.get(i % SERVER_THREADS), machines.get(i % setup.machines));
    }
    threads.addAll(servers);
    threads.addAll(clients);
  }

  private long beginNs() {
    return timeline.nowNs() + timeline.random().nextLong(BEGIN_NS);
  }

  private void connect(SimFabric owner, ReplyServer server, SimFabric machine) throws IOException {
    final Geometry geometry =
        new Geometry(
            setup.ringLength,
            setup.ringLength,
            setup.ringLength,
            64,
            timeline.random().nextLong(),
            timeline.random().nextLong(),
            timeline.random().nextLong());
    final Doorbell doorbell = machine.openDoorbell();
    final RemotePair pair =
        RemotePair.connect(
            timeline, owner, server.poller.doorbell(), machine, doorbell, geometry, false);
    final ClientSession client = pair.openClient(new Poller(doorbell, context), context);
    pair.openServer(server.poller, context, server::accept);
    clients.add(new ReplyClient(timeline, client, setup, beginNs(), pair.client(), pair.server()));
  }

  private Result measure(long warmUpNs, long measureNs) throws IOException {
    runUntil(timeline.nowNs() + warmUpNs);
    final Totals before = totals();
    runUntil(timeline.nowNs() + measureNs);
    final Totals after = totals();
    final double calls = after.calls - before.calls;
    return new Result(
        calls * 1e9 / measureNs,
        (after.latencyNs - before.latencyNs) / calls,
        (after.reads - before.reads) / calls,
        (after.clientWrites - before.clientWrites) / calls,
        (after.serverWrites - before.serverWrites) / calls,
        (after.misses - before.misses) / calls,
        (double) clients.stream().filter(ReplyClient::fetches).count() / setup.clients);
  }

  private void runUntil(long endNs) throws IOException {
    while (threads.peek().nextNs() < endNs) {
      final ReplyThread next = threads.poll();
      happenUntil(next.nextNs());
      next.step();
      threads.add(next);
    }
    happenUntil(endNs);
  }

  /** The cards do what they do until then. */
  private void happenUntil(long timeNs) {
    while (timeline.nextNs() <= timeNs) {
      timeline.runNext();
    }
    timeline.passUntil(timeNs);
  }

  private record Totals(
      long calls, long latencyNs, long reads, long clientWrites, long serverWrites, long misses) {}

  private Totals totals() {
    long calls = 0;
    long latencyNs = 0;
    long reads = 0;
    long clientWrites = 0;
    long serverWrites = 0;
    for (final ReplyClient client : clients) {
      calls += client.calls;
      latencyNs += client.latencyNs;
      reads += client.pair.ringReads() + client.pair.lineReads();
      clientWrites += client.pair.ringWrites() + client.pair.lineWrites();
      serverWrites += client.serverPair.ringWrites() + client.serverPair.lineWrites();
    }
    return new Totals(calls, latencyNs, reads, clientWrites, serverWrites, serverFabric.misses());
  }
}
