package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.onesided.PeerMemory;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.peers.ConnectedMemory;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.util.HashMap;
import java.util.Map;

/**
 * A node of a {@link ReplicationExperiment}: the real replicas and partitions, with a card and
 * cores of simulated time. It leads one group, and is a member of the others'.
 */
final class RatesNode {
  private static final long TICK_NS = 5_000_000; // of the node's own thread
  private static final int NOTICE_NS = 100; // until a core has noticed what has come, at most

  /** Bytes of an answer to a client. */
  private static final int ANSWER_LENGTH = 64;

  private final ReplicationExperiment experiment;
  private final ProcessorTimes times;
  private final SimulatedTime time;
  private final Node node;
  private final SimulatedCard card;
  private final SimulatedCores cores;
  private final Map<Long, SimulatedCores.Connection> connections = new HashMap<>();
  private final SimulatedCores.Connection clients = new SimulatedCores.Connection();
  private final SimulatedCoordinator.Session session;
  private final Replicas replicas;
  private Partition led; // null: it does not lead yet
  private long group; // that it leads
  private long noticedNs;
  private double memberNs;
  private long messages;

  RatesNode(ReplicationExperiment experiment, long id) {
    this.experiment = experiment;
    times = experiment.setup().times();
    time = experiment.time();
    node = Node.newBuilder().setId(id).setIncarnation(id).setAddress("node" + id).build();
    card = new SimulatedCard(time, experiment.setup().rates());
    final boolean polls = experiment.setup().way() == ReplicationExperiment.Way.ONE_SIDED;
    cores = new SimulatedCores(time, experiment.setup().cores(), polls, this::look);
    session = experiment.coordinator().session();
    session.announce(node);
    replicas =
        new Replicas(
            new NodeContext()
                .self(node)
                .coordinator(session)
                .peers(new CardPeers())
                .stores(group -> new Store())
                .clock(time::nowNs)
                .nonces(() -> time.random().nextLong() | 1)
                .errors(experiment::onError));
    time.after(time.random().nextInt((int) TICK_NS), this::tick);
  }

  Node node() {
    return node;
  }

  SimulatedCard card() {
    return card;
  }

  SimulatedCores cores() {
    return cores;
  }

  /** The status of the group that it leads. */
  ReplicaStatus status() {
    return replicas.find(group).status();
  }

  boolean isLeading() {
    return led != null;
  }

  /** Time that its cores spent on records of the groups that others lead. */
  double memberNs() {
    return memberNs;
  }

  /** Messages that came from leaders. */
  long messages() {
    return messages;
  }

  private void tick() {
    cores.submitOwn(
        () -> {
          final double before = cores.charged();
          replicas.work();
          memberNs += cores.charged() - before; // hardly a put begins or ends here
        });
    time.after(TICK_NS, this::tick);
  }

  /** A cycle on whichever core, which finds out by itself that a look is under way. */
  private void look() {
    cores.chargeAbout(times.lookNs());
    replicas.all().stream().filter(Replica::isLooking).forEach(Replica::drive);
  }

  /** Has a core do a job, once it has noticed: in the order in which they come. */
  private void come(Runnable job) {
    noticedNs = Math.max(noticedNs, time.nowNs() + time.random().nextInt(NOTICE_NS));
    time.at(noticedNs, () -> cores.submit(job));
  }

  /** Messages that it has refused: none, where none is lost. */
  long refused() {
    return replicas.all().stream().mapToLong(replica -> replica.status().counts().refused()).sum();
  }

  /** A put has arrived at the card. */
  void put(Write write, ByteString key, int length) {
    card.serve(
        length,
        () ->
            come(
                () -> {
                  cores.chargeAbout(times.requestNs());
                  if (led.submit(write) != 0) {
                    throw new AssertionError("refused");
                  }
                }));
  }

  /** Answers a client. */
  void answer(Runnable arrived) {
    cores.charge(card.rates().postNs());
    cores.send(clients, () -> card.issue(ANSWER_LENGTH, arrived));
  }

  private void send(long to, int length, Runnable arrived) {
    cores.charge(card.rates().postNs());
    final RatesNode other = experiment.node(to);
    cores.send(
        connections.computeIfAbsent(to, unknown -> new SimulatedCores.Connection()),
        () -> card.issue(length, () -> other.card.serve(length, () -> other.come(arrived))));
  }

  private void onMessage(long from, LeaderMessage message) {
    final double before = cores.charged();
    cores.chargeAbout(times.serveNs());
    replicas.onMessage(from, message).run();
    memberNs += cores.charged() - before;
    messages++;
  }

  private void onAnswer(long from, MemberMessage answer) {
    cores.chargeAbout(times.answerNs());
    replicas.onAnswer(from, answer);
  }

  /** Messages by the cards, each one work request and a step of a core at either end. */
  private final class CardPeers implements Peers {
    private final PeerMemory memory =
        experiment.setup().way() != ReplicationExperiment.Way.MESSAGES
            ? ConnectedMemory.over(new CardFabric(time, card, cores, experiment.domains()))
            : PeerMemory.NONE;

    @Override
    public void connect(Node other) {
      time.after(1_000, () -> cores.submit(() -> replicas.onConnected(other.getId())));
    }

    @Override
    public void disconnect(long other) {
      throw new AssertionError("other=" + other);
    }

    @Override
    public boolean send(long other, LeaderMessage message) {
      cores.chargeAbout(times.sendNs());
      RatesNode.this.send(
          other,
          message.getSerializedSize(),
          () -> experiment.node(other).onMessage(node.getId(), message));
      return true;
    }

    @Override
    public void answer(long leader, MemberMessage message) {
      RatesNode.this.send(
          leader,
          message.getSerializedSize(),
          () -> experiment.node(leader).onAnswer(node.getId(), message));
    }

    @Override
    public PeerMemory memory() {
      return memory;
    }
  }

  /** A group's entries, on the heap. */
  private final class Store implements GroupStore {
    private final HeapEntries entries = new HeapEntries();
    private boolean leads;

    @Override
    public void clear(GroupState group) {
      entries.entries().clear();
    }

    @Override
    public void apply(JournalRecord record) {
      cores.charge(times.recordNs());
      entries.put(record.key(), record.value(), record.lsn());
    }

    @Override
    public void restore(JournalRecord record) {
      throw new AssertionError();
    }

    @Override
    public void lead(GroupLog log, GroupState state) {
      if (led != null) {
        throw new AssertionError("leads two groups");
      }
      leads = true;
      group = state.getGroup();
      led =
          new Partition(
              entries,
              log.partition(0, 0),
              ReplicationExperiment.CLIENT_LIMIT,
              experiment::onError,
              Handover.never());
    }

    @Override
    public void reconfigured(GroupState group) {}

    @Override
    public void endWrites() {}

    @Override
    public void follow() {
      if (leads) {
        throw new AssertionError("a leader is replaced");
      }
    }

    @Override
    public GroupSnapshot snapshot(Runnable wake) {
      throw new AssertionError();
    }
  }
}
