package dev.ringfetch.index.replication;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.CoordinatorWithoutAdoptions;
import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DroppedGroups;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/** The truth of a simulated cluster, and the nodes' sessions, which are late and lose answers. */
final class SimulatedCoordinator {
  private final SimulatedTime time;
  private final Coverage coverage;
  private final Map<Long, GroupState> groups = new TreeMap<>();
  private final Set<Long> dropped = new HashSet<>();
  private DroppedGroups droppedLast = DroppedGroups.getDefaultInstance();
  private final Map<Long, Node> nodes = new TreeMap<>();
  private final List<Session> sessions = new ArrayList<>();
  private long epoch = 100;
  private long created;

  /** The level of the group, which says whose directory makes a node complete. */
  Durability level = Durability.MEMORY;

  /** Whether the directory of a member's node is the one that the member had. */
  Predicate<Member> hasDirectory = member -> true;

  /** Whether another process of a node has all that a member had. */
  Standing standsFor = (group, node, member) -> false;

  /** Says whether another process of a node has all that a member of a group had. */
  @FunctionalInterface
  interface Standing {
    boolean test(long group, long node, Member member);
  }

  /** Is told of the configuration whose members do not win, and of the epoch that is won. */
  BiConsumer<Configuration, Long> onWinByDisk = (base, epoch) -> {};

  /** Whether answers may be lost. */
  boolean loses;

  SimulatedCoordinator(SimulatedTime time, Coverage coverage) {
    this.time = time;
    this.coverage = coverage;
  }

  GroupState group(long number) {
    return groups.get(number);
  }

  /** Creates a group at once. */
  long create(GroupState first) {
    final long number = StoreMemory.mix(++created) >>> 1;
    change(
        first.toBuilder()
            .setGroup(number)
            .setWon(first.getWon().toBuilder().setEpoch(++epoch))
            .setVersion(0)
            .build());
    return number;
  }

  void drop(long number) {
    droppedLast = Coordinator.dropped(droppedLast, groups.remove(number));
    dropped.add(number);
    sessions.forEach(Session::changed);
  }

  /** Has a group go on with the log of one node. */
  void recover(long number, long node, long process) {
    final GroupState seen = groups.get(number);
    final GroupState.Builder recovered =
        Recoveries.recovered(seen, node, process, time.random().nextLong() | 1, 1).toBuilder()
            .setVersion(seen.getVersion() + 1);
    if (recovered.getEstablished().getEpoch() == 0) {
      recovered.getEstablishedBuilder().setEpoch(++epoch);
    }
    change(recovered.build());
  }

  /** Loses all groups, and which were dropped. No process that knows of one may live. */
  void forget() {
    groups.clear();
    droppedLast = DroppedGroups.getDefaultInstance();
  }

  private void change(GroupState state) {
    groups.put(state.getGroup(), state);
    sessions.forEach(Session::changed);
  }

  private boolean isComplete(GroupState before, Configuration proposed) {
    final Configuration base = before.hasEstablished() ? before.getEstablished() : before.getWon();
    final Member leader = leader(proposed);
    if ((level == Durability.LEADER_DISK || level == Durability.INTERVAL)
        && base.getLeader() == leader.getNode()
        && !base.getMembersList().contains(leader)) { // it has restarted, and what others forgot
      return proposed.getMembersList().stream()
          .allMatch(member -> member.equals(leader) || base.getMembersList().contains(member));
    }
    return level == Durability.DISK
        ? base.getMembersList().stream()
            .filter(member -> member.getNode() == leader.getNode())
            .anyMatch(member -> !before.hasEstablished() || hasDirectory.test(member))
        : base.getMembersList().contains(leader)
            || base.getMembersList().stream()
                .anyMatch(member -> standsFor.test(before.getGroup(), leader.getNode(), member));
  }

  private static Member leader(Configuration proposed) {
    return proposed.getMembersList().stream()
        .filter(member -> member.getNode() == proposed.getLeader())
        .findFirst()
        .orElseThrow();
  }

  private Coordinator.Result win(GroupState seen, Configuration proposed) {
    final GroupState before = groups.get(seen.getGroup());
    if (before == null || before.getVersion() != seen.getVersion()) {
      coverage.count("conflicts");
      return Coordinator.Result.CONFLICT;
    }
    if (!isComplete(before, proposed)) {
      throw new AssertionError("an incomplete replica wins: " + before + proposed);
    }
    if (before.hasWon()) {
      coverage.count("abandoned epochs");
    }
    coverage.count("wins");
    if (before.hasEstablished()
        && before.getEstablished().getMembersList().stream()
            .noneMatch(member -> proposed.getMembersList().contains(member))) {
      coverage.count("cold starts");
    }
    change(
        before.toBuilder()
            .setWon(proposed.toBuilder().setEpoch(++epoch))
            .setVersion(before.getVersion() + 1)
            .build());
    final Configuration base = Recoveries.last(before);
    if (!base.getMembersList().contains(leader(proposed))) {
      onWinByDisk.accept(base, epoch);
    }
    return Coordinator.Result.DONE;
  }

  private Coordinator.Result establish(GroupState seen) {
    final GroupState before = groups.get(seen.getGroup());
    if (before == null || before.getVersion() != seen.getVersion() || !before.hasWon()) {
      coverage.count("conflicts");
      return Coordinator.Result.CONFLICT;
    }
    final Configuration won = before.getWon();
    final Configuration old = before.getEstablished();
    if (before.hasEstablished() && old.getLeader() != won.getLeader()) {
      coverage.count("fail-overs");
    }
    coverage.count(
        won.getMembersCount() == 1
            ? "alone"
            : won.getMembersCount() > old.getMembersCount() ? "grown" : "shrunk or equal");
    change(Coordinator.established(seen).toBuilder().setVersion(before.getVersion() + 1).build());
    return Coordinator.Result.DONE;
  }

  /** A node's process has ended: the session goes now or later. */
  void end(Session session, long afterNs) {
    session.closed = true;
    time.after(
        afterNs,
        () -> {
          sessions.remove(session);
          if (session.self != null && session.self.equals(nodes.get(session.self.getId()))) {
            nodes.remove(session.self.getId());
            sessions.forEach(Session::nodesChanged);
            sessions.forEach(Session::letIn);
          }
        });
  }

  /** Whether others take a process for living. */
  boolean isAnnounced(Node node) {
    return node.equals(nodes.get(node.getId()));
  }

  /** Loses a session whose process may live on; it is announced anew when it is connected. */
  void expire(Node node) {
    nodes.remove(node.getId(), node);
    sessions.forEach(Session::nodesChanged);
  }

  Session session() {
    final Session session = new Session();
    sessions.add(session);
    session.deliver(true, session::connection);
    session.changed();
    session.nodesChanged();
    return session;
  }

  /** What one process sees. */
  final class Session implements CoordinatorWithoutAdoptions {
    private final ArrayDeque<Event> events = new ArrayDeque<>();
    private final Map<Long, Integer> versions = new HashMap<>();
    private final List<Runnable> unanswered = new ArrayList<>();
    private DroppedGroups told = DroppedGroups.getDefaultInstance();
    private Runnable wakeUp = () -> {};
    private Node self;
    private boolean closed;
    private boolean keptOut; // another process is announced as this node
    private boolean connected = true;

    private interface Event {
      void act(Listener listener);
    }

    @Override
    public void announce(Node node, Admission admission) {
      self = node;
      final Node there = nodes.get(node.getId());
      keptOut = there != null && Coordinator.mayLiveBeside(there, node);
      if (keptOut) {
        coverage.count("nodes kept out");
      } else {
        nodes.put(node.getId(), node);
        sessions.forEach(Session::nodesChanged);
      }
    }

    @Override
    public void withdraw() {
      if (self != null && nodes.remove(self.getId(), self)) {
        sessions.forEach(Session::nodesChanged);
      }
      self = null;
      coverage.count("withdrawn announcements");
    }

    /** Cuts the session from the coordinator, or connects it again. */
    void connect(boolean again) {
      if (connected == again || closed) {
        return;
      }
      connected = again;
      deliver(true, this::connection);
      if (again) {
        if (self != null && !keptOut && nodes.putIfAbsent(self.getId(), self) == null) {
          sessions.forEach(Session::nodesChanged);
        }
        changed();
        nodesChanged();
        List.copyOf(unanswered).forEach(Runnable::run);
      }
    }

    private void connection() {
      final boolean takesPart = connected && !keptOut;
      if (takesPart) {
        showGroups(); // what there is comes first
      }
      add(listener -> listener.onConnected(takesPart));
    }

    /** Announces a process that was kept out, once the other one's announcement is gone. */
    private void letIn() {
      if (keptOut && !closed && !nodes.containsKey(self.getId())) {
        keptOut = false;
        nodes.put(self.getId(), self);
        deliver(true, this::connection);
        sessions.forEach(Session::nodesChanged);
      }
    }

    private void deliver(boolean always, Runnable action) {
      time.after(
          time.delayNs(),
          () -> {
            if (!closed && ((connected && !keptOut) || always)) {
              action.run();
            }
          });
    }

    private void add(Event event) {
      events.add(event);
      wakeUp.run();
    }

    void changed() {
      deliver(false, this::showGroups);
    }

    private void showGroups() {
      for (final GroupState state : List.copyOf(groups.values())) {
        if (isNewer(state)) {
          add(listener -> listener.onGroup(state));
        }
      }
      for (final long number : dropped) {
        if (versions.remove(number) != null) {
          add(listener -> listener.onDropped(number));
        }
      }
      final DroppedGroups newest = droppedLast;
      if (!newest.equals(told)) {
        told = newest;
        add(listener -> listener.onDroppedGroups(Coordinator.ids(newest)));
      }
    }

    private boolean isNewer(GroupState state) {
      final int known = versions.getOrDefault(state.getGroup(), -1);
      versions.put(state.getGroup(), Math.max(known, state.getVersion()));
      return state.getVersion() > known;
    }

    void nodesChanged() {
      final long lateNs = time.oneIn(3) ? 1_000_000L * time.random().nextInt(2_000) : 0;
      time.after(
          lateNs,
          () ->
              deliver(
                  false,
                  () -> {
                    final Collection<Node> now = List.copyOf(nodes.values());
                    add(listener -> listener.onNodes(now));
                  }));
    }

    @Override
    public void sync(Answer answer) {
      throw new UnsupportedOperationException("replicas know their groups");
    }

    private void request(long group, java.util.function.Supplier<Result> request, Answer answer) {
      final boolean[] answered = {false};
      final boolean lost = !connected || (loses && time.oneIn(6));
      final boolean done = !lost || (connected && time.random().nextBoolean());
      if (lost) {
        coverage.count(done ? "lost answers" : "lost requests");
      }
      final long delayNs = time.delayNs();
      if (done) {
        time.after(
            delayNs,
            () -> {
              final Result result = request.get();
              final GroupState state = groups.get(group);
              time.after(
                  time.delayNs(),
                  () -> {
                    if (!lost && !closed && !answered[0]) {
                      answered[0] = true;
                      if (state != null) {
                        isNewer(state);
                      }
                      add(listener -> answer.onAnswer(result, state));
                    }
                  });
            });
      }
      final Runnable unknown =
          () -> {
            if (!closed && !answered[0]) {
              answered[0] = true;
              add(listener -> answer.onAnswer(Result.UNKNOWN, null));
            }
          };
      if (lost) {
        time.after(1_000_000L * time.random().nextInt(400), unknown);
      } else {
        time.after(3_000_000_000L, unknown);
      }
    }

    @Override
    public void create(GroupState first, Answer answer) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void win(GroupState seen, Configuration proposed, Answer answer) {
      if (self != null && proposed.getLeader() != self.getId()) {
        coverage.count("hand-overs");
      }
      request(seen.getGroup(), () -> SimulatedCoordinator.this.win(seen, proposed), answer);
    }

    @Override
    public void establish(GroupState seen, Answer answer) {
      request(seen.getGroup(), () -> SimulatedCoordinator.this.establish(seen), answer);
    }

    @Override
    public void recover(GroupState seen, GroupState recovered, Answer answer) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void drop(GroupState seen, Answer answer) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void replace(GroupState seen, GroupState first, Answer answer) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int poll(Listener listener) {
      int done = 0;
      Event event;
      while ((event = events.poll()) != null) {
        event.act(listener);
        done++;
      }
      return done;
    }

    @Override
    public void wakeUp(Runnable run) {
      wakeUp = run;
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
