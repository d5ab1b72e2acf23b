package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.ToDoubleFunction;

/**
 * Tailwind's experiment (ATC'18) with the replicas of Ringfetch: three nodes, each of which leads a
 * group and is a member of the two others', so that a node's cores serve clients and replicate for
 * others. Clients put. Cards and cores take simulated time; replicas, partitions, their logs and
 * the way over memory are the real ones.
 */
final class ReplicationExperiment {
  static final int CLIENT_LIMIT = 4096;

  private static final int NODES = 3;
  private static final int KEYS = 1_000;

  /** Of keys and values: RAMCloud's and YCSB's usual ones. */
  private static final int KEY_LENGTH = 30;

  private static final int VALUE_LENGTH = 100;
  private static final int REQUEST_LENGTH = KEY_LENGTH + VALUE_LENGTH + 34;

  /** Until each node knows the others: a leader that does not reach its members is replaced. */
  private static final long ANNOUNCED_NS = 3_000_000_000L;

  private static final long SET_UP_NS = 10_000_000_000L;

  private final Setup setup;
  private final SimulatedTime time;
  private final SimulatedCoordinator coordinator;
  private final Map<Long, CardFabric.CardDomain> domains = new HashMap<>();
  private final List<RatesNode> nodes = new ArrayList<>();
  private final List<Throwable> errors = new ArrayList<>();
  private final ByteString[] keys = new ByteString[KEYS];
  private final ByteString value = ByteString.copyFrom(new byte[VALUE_LENGTH]);
  private boolean measured;
  private long[] latencies = new long[1 << 14];
  private int puts;

  /** The way of records to members. */
  enum Way {
    /** Messages, which a core of the member carries out and answers. */
    MESSAGES,
    /** Requests of the leader's card; cores of the leader poll for their results. */
    ONE_SIDED,
    /**
     * The same, if no core polled: a result came as a message does. Not what the leader does, but
     * what its polling costs where requests wait.
     */
    ONE_SIDED_WITHOUT_POLLING
  }

  /**
   * What is measured.
   *
   * @param way of the records
   * @param rates of all cards
   * @param times of all cores
   * @param cores of each node
   * @param clients of each node, which have a put each under way; 0: puts come by themselves
   * @param putsPerSecond to each node, where they come by themselves, at random times
   */
  record Setup(
      Way way,
      CardRates rates,
      ProcessorTimes times,
      int cores,
      int clients,
      double putsPerSecond) {}

  /**
   * What was measured.
   *
   * @param putsPerSecond of a node
   * @param medianNs of the clients
   * @param p99Ns of the clients
   * @param memberNs time of members' cores for a put, of both
   * @param busy share of the cores' time
   * @param polling share of the cores' time in which they waited for looks
   * @param requests of cards for a put
   * @param messages to members for a put
   */
  record Result(
      double putsPerSecond,
      double medianNs,
      double p99Ns,
      double memberNs,
      double busy,
      double polling,
      double requests,
      double messages) {
    @Override
    public String toString() {
      return String.format(
          "%7.0f k/s p50 %6.1f us p99 %7.1f us, members %5.2f us a put, busy %3.0f %% (polling"
              + " %2.0f), a put: %4.1f work requests, %4.2f messages",
          putsPerSecond / 1e3,
          medianNs / 1e3,
          p99Ns / 1e3,
          memberNs / 1e3,
          100 * busy,
          100 * polling,
          requests,
          messages);
    }
  }

  private ReplicationExperiment(long seed, Setup setup) {
    this.setup = setup;
    time = new SimulatedTime(new Random(seed));
    coordinator = new SimulatedCoordinator(time, new Coverage());
    for (int i = 0; i < KEYS; i++) {
      final byte[] key = new byte[KEY_LENGTH];
      time.random().nextBytes(key);
      keys[i] = ByteString.copyFrom(key);
    }
    for (int i = 1; i <= NODES; i++) {
      nodes.add(new RatesNode(this, i));
    }
  }

  private GroupState ledBy(RatesNode leader) {
    final long id = leader.node().getId();
    final Configuration.Builder won = Configuration.newBuilder().setLeader(id).setNonce(7);
    nodes.forEach(node -> won.addMembers(Configurations.member(node.node())));
    return GroupState.newBuilder()
        .setIndex("index" + id)
        .setReplicas(NODES)
        .setWon(won)
        .setDefinition(
            SimulatedDefinition.of(new IndexDefinition(IndexKind.HASH, Durability.MEMORY, 1, 1, 1)))
        .build();
  }

  /**
   * Runs it.
   *
   * @param warmUpNs virtual time before it is measured
   * @param measureNs virtual time in which it is
   */
  static Result run(long seed, Setup setup, long warmUpNs, long measureNs) {
    try {
      return new ReplicationExperiment(seed, setup).measure(warmUpNs, measureNs);
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError("seed=" + seed + " " + setup, e);
    }
  }

  Setup setup() {
    return setup;
  }

  SimulatedTime time() {
    return time;
  }

  SimulatedCoordinator coordinator() {
    return coordinator;
  }

  Map<Long, CardFabric.CardDomain> domains() {
    return domains;
  }

  RatesNode node(long id) {
    return nodes.get((int) id - 1);
  }

  void onError(Throwable error) {
    errors.add(error);
  }

  private Result measure(long warmUpNs, long measureNs) {
    setUp();
    nodes.forEach(this::startClients);
    time.run(warmUpNs);
    final double memberNs = sum(RatesNode::memberNs);
    final double busyNs = sum(node -> node.cores().busyNs());
    final double polledNs = sum(node -> node.cores().polledNs());
    final double requests = sum(node -> node.card().issued());
    final double messages = sum(RatesNode::messages);
    measured = true;
    time.run(measureNs);
    check();
    final long[] sorted = Arrays.copyOf(latencies, puts);
    Arrays.sort(sorted);
    final double coresNs = (double) measureNs * NODES * setup.cores();
    return new Result(
        1e9 * puts / measureNs / NODES,
        sorted[puts / 2],
        sorted[(int) (puts * 0.99)],
        (sum(RatesNode::memberNs) - memberNs) / puts,
        (sum(node -> node.cores().busyNs()) - busyNs) / coresNs,
        (sum(node -> node.cores().polledNs()) - polledNs) / coresNs,
        (sum(node -> node.card().issued()) - requests) / puts,
        (sum(RatesNode::messages) - messages) / puts);
  }

  private double sum(ToDoubleFunction<RatesNode> of) {
    return nodes.stream().mapToDouble(of).sum();
  }

  private void setUp() {
    time.run(ANNOUNCED_NS);
    nodes.forEach(node -> coordinator.create(ledBy(node)));
    final long endNs = time.nowNs() + SET_UP_NS;
    while (!nodes.stream().allMatch(this::isReady)) {
      if (time.nowNs() > endNs) {
        throw new AssertionError("not set up");
      }
      time.run(1_000_000);
      check();
    }
  }

  /** Whether it leads, and its records go the way that is meant. */
  private boolean isReady(RatesNode node) {
    final String way = setup.way() != Way.MESSAGES ? "one-sided card" : "rpc";
    return node.isLeading()
        && node.status().members().stream()
                .filter(member -> member.replicatedBy().equals(way))
                .count()
            == NODES - 1;
  }

  private void check() {
    if (!errors.isEmpty()) {
      throw new AssertionError(errors.get(0));
    }
    if (puts > 0 && !nodes.stream().allMatch(this::isReady)) {
      throw new AssertionError("another way");
    }
    if (sum(RatesNode::refused) > 0) {
      throw new AssertionError("messages were refused");
    }
  }

  private void startClients(RatesNode node) {
    for (int i = 0; i < setup.clients(); i++) {
      final Client client = new Client(node);
      time.after(time.random().nextInt(100_000), client::put);
    }
    if (setup.clients() == 0) {
      arrive(node);
    }
  }

  private void arrive(RatesNode node) {
    final double waitNs = -Math.log(1 - time.random().nextDouble()) * 1e9 / setup.putsPerSecond();
    time.after(
        (long) waitNs,
        () -> {
          new Client(node).put();
          arrive(node);
        });
  }

  /** A client, whose own card is never busy with others. */
  private final class Client {
    private final RatesNode node;
    private final Write write = new Write(this::onAnswer);
    private long beganNs;

    Client(RatesNode node) {
      this.node = node;
    }

    void put() {
      beganNs = time.nowNs();
      final ByteString key = keys[time.random().nextInt(KEYS)];
      write.put(key, value);
      final CardRates rates = setup.rates();
      time.after(
          (long) (rates.postNs() + rates.outboundNs(REQUEST_LENGTH) + rates.wireNs()),
          () -> node.put(write, key, REQUEST_LENGTH));
    }

    private void onAnswer(Write answered) {
      if (answered.outcome() != Write.DONE) {
        throw new AssertionError("outcome=" + answered.outcome());
      }
      node.answer(this::end);
    }

    private void end() {
      if (measured) {
        if (puts == latencies.length) {
          latencies = Arrays.copyOf(latencies, 2 * puts);
        }
        latencies[puts++] = time.nowNs() - beganNs;
      }
      if (setup.clients() > 0) {
        put();
      }
    }
  }
}
