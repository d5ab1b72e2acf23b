package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.onesided.PeerMemory;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Connections between simulated nodes: late, and cut in one direction or both. */
final class SimulatedNetwork {
  /** The longest message that a connection takes; a longer one is not sent. */
  static final int MESSAGE_LIMIT = 64 << 10;

  private final SimulatedTime time;
  private final Coverage coverage;
  private final Map<Long, SimulatedNode> nodes;
  private final Map<Link, Connection> connections = new HashMap<>();
  private final Set<Link> cut = new HashSet<>();
  private final SimulatedMemory memory;

  /** Whether records may be damaged. */
  boolean damages;

  /** One direction. */
  record Link(long from, long to) {}

  /** A stream of a leader's messages to a member, and of the answers. */
  private static final class Connection {
    final SimulatedNode leader;
    final SimulatedNode member;
    boolean open = true;
    boolean stalledThere;
    boolean stalledBack;
    long thereNs;
    long backNs;
    long damagedUntilNs;
    int underWay;

    Connection(SimulatedNode leader, SimulatedNode member) {
      this.leader = leader;
      this.member = member;
    }
  }

  SimulatedNetwork(SimulatedTime time, Coverage coverage, Map<Long, SimulatedNode> nodes) {
    this.time = time;
    this.coverage = coverage;
    this.nodes = nodes;
    memory = new SimulatedMemory(time, coverage);
  }

  /** The memory between the nodes. */
  SimulatedMemory memory() {
    return memory;
  }

  void cut(long from, long to) {
    cut.add(new Link(from, to));
  }

  void heal() {
    cut.clear();
  }

  void heal(long from, long to) {
    cut.remove(new Link(from, to));
  }

  boolean isCut(long from, long to) {
    return cut.contains(new Link(from, to));
  }

  /** Ends a connection, of which both sides hear, if they live, now or later. */
  void end(long leader, long member, long lateNs) {
    final Connection connection = connections.get(new Link(leader, member));
    if (connection != null) {
      end(connection, lateNs);
    }
  }

  private void end(Connection connection, long lateNs) {
    if (!connection.open) {
      return;
    }
    connection.open = false;
    final SimulatedNode leader = connection.leader;
    final SimulatedNode member = connection.member;
    time.after(
        lateNs + time.delayNs(),
        () -> {
          connections.remove(new Link(leader.id(), member.id()), connection);
          leader.run(() -> leader.replicas().onDisconnected(member.id()));
          leader.run(() -> retry(leader, member.id()));
        });
    time.after(
        lateNs + time.delayNs(),
        () -> member.run(() -> member.replicas().onLeaderGone(leader.id())));
  }

  /** A process has ended: others hear of it, or, where its host has, nothing. */
  void ended(SimulatedNode node, boolean isHeard) {
    for (final Connection connection : List.copyOf(connections.values())) {
      if (connection.leader == node || connection.member == node) {
        end(connection, isHeard ? 0 : 1_000_000L * (500 + time.random().nextInt(3_000)));
      }
    }
  }

  private void retry(SimulatedNode leader, long to) {
    time.after(
        1_000_000L * (10 + time.random().nextInt(100)), () -> leader.run(() -> open(leader, to)));
  }

  private void open(SimulatedNode leader, long to) {
    final Node wanted = leader.wanted().get(to);
    final Link link = new Link(leader.id(), to);
    if (wanted == null) {
      return;
    }
    final Connection there = connections.get(link);
    if (there != null) {
      if (there.leader != leader) { // that of an earlier process, which ends
        retry(leader, to);
      }
      return;
    }
    final SimulatedNode member = nodes.get(to);
    if (cut.contains(link)
        || cut.contains(new Link(to, leader.id()))
        || member == null
        || !member.isAlive()
        || member.isPaused()
        || member.node().getIncarnation() != wanted.getIncarnation()) {
      if (time.random().nextBoolean()) {
        leader.run(() -> leader.replicas().onDisconnected(to));
      }
      retry(leader, to);
      return;
    }
    connections.put(link, new Connection(leader, member));
    leader.run(() -> leader.replicas().onConnected(to));
  }

  /** Whether there is a connection that loses all, and has not ended yet. */
  boolean isStalled() {
    return connections.values().stream()
        .anyMatch(one -> one.open && (one.stalledThere || one.stalledBack));
  }

  /** The connections of one node. */
  Peers of(SimulatedNode self) {
    final PeerMemory shared = memory.of(self);
    return new Peers() {
      @Override
      public PeerMemory memory() {
        return shared;
      }

      @Override
      public void connect(Node node) {
        self.wanted().put(node.getId(), node);
        time.after(time.delayNs(), () -> self.run(() -> open(self, node.getId())));
      }

      @Override
      public void disconnect(long node) {
        self.wanted().remove(node);
        end(self.id(), node, 0);
      }

      @Override
      public boolean send(long node, LeaderMessage message) {
        final Connection connection = connections.get(new Link(self.id(), node));
        if (connection == null || !connection.open || connection.leader != self) {
          return false;
        }
        if (message.getSerializedSize() > MESSAGE_LIMIT) {
          coverage.count("messages that are too long");
          return false;
        }
        if (connection.underWay > 20 || time.oneIn(300)) {
          coverage.count("refused sends");
          return false;
        }
        sendTo(connection, message);
        return true;
      }

      @Override
      public void answer(long leader, MemberMessage message) {
        final Connection connection = connections.get(new Link(leader, self.id()));
        if (connection != null && connection.open && connection.member == self) {
          sendBack(connection, message);
        }
      }
    };
  }

  private void sendTo(Connection connection, LeaderMessage message) {
    if (message.hasResume()) {
      coverage.count("resumed logs");
      if (message.getResume().getPosition()
          == connection.leader.replica(message.getGroup()).status().end()) {
        coverage.count("resumed logs that lack nothing");
      }
    }
    connection.underWay++;
    connection.thereNs = Math.max(connection.thereNs, time.nowNs() + time.delayNs());
    time.at(
        connection.thereNs,
        () -> {
          connection.underWay--;
          if (cut.contains(new Link(connection.leader.id(), connection.member.id()))
              || connection.stalledThere) {
            stalled(connection, true);
            return;
          }
          final LeaderMessage come = damaged(connection, message);
          connection.member.run(
              () -> {
                if (connection.open) {
                  connection.member.replicas().onMessage(connection.leader.id(), come).run();
                }
              });
        });
  }

  /** The message as it comes: records are damaged now and then, or for some time all. */
  private LeaderMessage damaged(Connection connection, LeaderMessage message) {
    final boolean always = time.nowNs() < connection.damagedUntilNs;
    if (!damages || message.getAppend().getCount() == 0 || (!always && !time.oneIn(300))) {
      return message;
    }
    if (!always && time.oneIn(4)) {
      connection.damagedUntilNs = time.nowNs() + 2_000_000_000L;
    }
    coverage.count("damaged messages");
    final byte[] records = message.getAppend().getRecords().toByteArray();
    records[time.random().nextInt(records.length)] ^= 1;
    return message.toBuilder()
        .setAppend(message.getAppend().toBuilder().setRecords(ByteString.copyFrom(records)))
        .build();
  }

  private void sendBack(Connection connection, MemberMessage message) {
    connection.backNs = Math.max(connection.backNs, time.nowNs() + time.delayNs());
    time.at(
        connection.backNs,
        () -> {
          if (cut.contains(new Link(connection.member.id(), connection.leader.id()))
              || connection.stalledBack) {
            stalled(connection, false);
            return;
          }
          connection.leader.run(
              () -> {
                if (connection.open) {
                  connection.leader.replicas().onAnswer(connection.member.id(), message);
                }
              });
        });
  }

  /** Something was lost: all that follows is, and the connection ends some time. */
  private void stalled(Connection connection, boolean there) {
    if (!connection.stalledThere && !connection.stalledBack) {
      coverage.count("stalled connections");
      time.after(1_000_000L * (50 + time.random().nextInt(3_000)), () -> end(connection, 0));
    }
    connection.stalledThere |= there;
    connection.stalledBack |= !there;
  }
}
