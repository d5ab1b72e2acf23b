package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.linearizability.Answer;
import dev.ringfetch.index.linearizability.Call;
import dev.ringfetch.index.linearizability.Operation;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.partition.WriteKind;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A cluster on one thread, drawn from a seed: nodes with the production code, their connections,
 * the coordinator, and clients that read and write through whatever replica serves.
 */
final class ReplicationWorld {
  static final long MS = 1_000_000;
  static final int KEYS = 6;

  /** A client gives an answer up after so long. */
  private static final long PATIENCE_NS = 1_500 * MS;

  private final Random random;
  private final SimulatedTime time;
  private final Coverage coverage;
  private final Map<Long, SimulatedNode> nodes = new TreeMap<>();
  private final SimulatedCoordinator coordinator;
  private final SimulatedNetwork network;
  private final List<Operation> history = new ArrayList<>();
  private final Map<String, String> values = new ConcurrentHashMap<>();
  private final List<Throwable> errors = new ArrayList<>();
  private final Map<Long, SimulatedDirectory> directories = new TreeMap<>();
  private final Map<Long, SimulatedDirectory> copies = new TreeMap<>(); // older states of them
  private final Map<Long, SimulatedNode> processes = new HashMap<>(); // by incarnation
  private final SimulatedReaders readers;
  private final SimulatedLosses losses;
  private final Map<Long, SimulatedStops> stops = new TreeMap<>();
  private final Durability level;
  private final boolean isOnDisk;
  private final int replicas;
  private final int logLimit;
  private final int logMemory;
  private final long group;
  private final List<Long> groups = new ArrayList<>();
  private final Set<Long> unwritten = new TreeSet<>(); // groups of which a record is missing
  private long incarnations = 1000;
  private long lastValue;
  private long lastId = 100;
  private boolean storesFail;
  private boolean copiesAreServed;
  private boolean hasLost;
  private int clients;
  private @Nullable SimulatedAppends appends; // null: the index takes none

  ReplicationWorld(long seed, int nodeCount, int replicas, Coverage coverage) {
    this(seed, nodeCount, replicas, coverage, false);
  }

  /** Creates a world whose index is in memory alone, or on the disks of all members. */
  ReplicationWorld(long seed, int nodeCount, int replicas, Coverage coverage, boolean isOnDisk) {
    this(seed, nodeCount, replicas, coverage, isOnDisk ? Durability.DISK : Durability.MEMORY);
  }

  /** Creates a world whose index has a level. */
  ReplicationWorld(long seed, int nodeCount, int replicas, Coverage coverage, Durability level) {
    this.level = level;
    isOnDisk = level != Durability.MEMORY;
    random = new Random(seed);
    readers = new SimulatedReaders(this, seed, coverage);
    losses = new SimulatedLosses(this, coverage);
    this.replicas = replicas;
    this.coverage = coverage;
    time = new SimulatedTime(random);
    logLimit = time.oneIn(2) ? 16 << 20 : time.oneIn(2) ? 4_000 : 400;
    logMemory = time.oneIn(2) ? 64 << 10 : 1024;
    coordinator = new SimulatedCoordinator(time, coverage);
    coordinator.level = level;
    coordinator.standsFor = this::standsFor;
    coordinator.hasDirectory = this::hasDirectory;
    coordinator.onWinByDisk =
        (base, epoch) -> {
          if (level == Durability.INTERVAL && !hasLost) {
            losses.onWinByDisk(base, epoch);
          }
        };
    network = new SimulatedNetwork(time, coverage, nodes);
    for (long id = 1; id <= nodeCount; id++) {
      start(id);
    }
    group = coordinator.create(first(Math.min(nodeCount, replicas)));
    groups.add(group);
  }

  /** Ids of all groups, that of the first one among them. */
  List<Long> groups() {
    return groups;
  }

  /** Adds a group, whose members are others where there are more nodes. */
  void addGroup() {
    final List<Long> ids = new ArrayList<>(nodes.keySet());
    Collections.rotate(ids, groups.size());
    final Configuration.Builder won = Configuration.newBuilder().setLeader(ids.get(0)).setNonce(7);
    for (final long id : ids.subList(0, Math.min(ids.size(), replicas))) {
      won.addMembers(Configurations.member(nodes.get(id).node()));
    }
    groups.add(
        coordinator.create(
            first(1).toBuilder().setIndex("index" + groups.size()).setWon(won).build()));
  }

  private GroupState first(int members) {
    final Configuration.Builder won = Configuration.newBuilder().setLeader(1).setNonce(7);
    for (long id = 1; id <= members; id++) {
      won.addMembers(Configurations.member(nodes.get(id).node()));
    }
    return GroupState.newBuilder()
        .setIndex("index")
        .setReplicas(replicas)
        .setWon(won)
        .setDefinition(
            SimulatedDefinition.of(
                new IndexDefinition(IndexKind.HASH, level, SimulatedStore.PARTITIONS, 1, 1)))
        .build();
  }

  /** Makes a partition take appends of so many programs; before anything else happens. */
  void startAppends(int programs) {
    appends = new SimulatedAppends(this, coverage);
    appends.start(programs);
  }

  @Nullable SimulatedAppends appends() {
    return appends;
  }

  SimulatedTime time() {
    return time;
  }

  SimulatedNetwork network() {
    return network;
  }

  SimulatedCoordinator coordinator() {
    return coordinator;
  }

  int logLimit() {
    return logLimit;
  }

  int logMemory() {
    return logMemory;
  }

  long group() {
    return group;
  }

  Map<Long, SimulatedNode> nodes() {
    return nodes;
  }

  void onError(Throwable error) {
    if (error instanceof IOException) {
      coverage.count("removals that fail");
    } else if (!(error instanceof GroupStoreException)) {
      errors.add(error);
    } else {
      coverage.count("failed stores");
    }
  }

  /** Whether a store fails now. */
  boolean mayFail(SimulatedNode node) {
    return storesFail && !node.isRecovering() && time.oneIn(3_000) && survives(node.id());
  }

  void storesFail(boolean mayFail) {
    storesFail = mayFail;
  }

  /** Notes a record that is applied: there is one value for each partition and LSN. */
  void applied(long of, int partition, long lsn, ByteString key, ByteString value) {
    final String text = key.toStringUtf8() + "=" + (value == null ? "-" : value.toStringUtf8());
    final String before = values.putIfAbsent(of + "/" + partition + "/" + lsn, text);
    if (before != null && !before.equals(text)) {
      throw new AssertionError(
          "partition=" + partition + " lsn=" + lsn + " was " + before + " and is " + text);
    }
  }

  // Faults.

  /** Starts a process on a node. */
  void start(long id) {
    final Node node =
        Node.newBuilder()
            .setId(id)
            .setIncarnation(++incarnations)
            .setAddress("node" + id + (isCopy(id) ? " on a copy" : ""))
            .setDisk(true)
            .build();
    final SimulatedDirectory directory =
        isOnDisk
            ? directories.computeIfAbsent(id, unknown -> new SimulatedDirectory(time, coverage))
            : null;
    final SimulatedStops left = stops.computeIfAbsent(id, unknown -> new SimulatedStops(coverage));
    final SimulatedNode started =
        new SimulatedNode(this, node, coordinator.session(), directory, left);
    nodes.put(id, started);
    processes.put(node.getIncarnation(), started);
    started.start();
  }

  /** The process that is, or was, a member. */
  SimulatedNode process(Member member) {
    return processes.get(member.getIncarnation());
  }

  /** Whether the group survives the end of a node: others have all that was acknowledged. */
  boolean survives(long id) {
    return survives(id, id);
  }

  /** Whether the groups survive the end of two nodes. */
  boolean survives(long id, long second) {
    return groups.stream().allMatch(one -> survives(one, id, second) || isLost(one));
  }

  /** Whether only the leader's directory counts. */
  private boolean isOnLeadersDisk() {
    return level == Durability.LEADER_DISK || level == Durability.INTERVAL;
  }

  private boolean survives(long of, long id, long second) {
    final GroupState state = coordinator.group(of);
    if (level == Durability.DISK || (isOnLeadersDisk() && hasLeaders(state))) {
      return true;
    }
    return hasOther(of, state.getEstablished(), id, second)
        && (!state.hasWon() || hasOther(of, state.getWon(), id, second));
  }

  /**
   * Whether nobody has what was acknowledged, as a record of a stop could not be written, or the
   * first members have ended before there was anything.
   */
  private boolean isLost(long of) {
    return !isOnDisk
        && (unwritten.contains(of) || !coordinator.group(of).hasEstablished())
        && !hasOther(of, Configurations.base(coordinator.group(of)), -1, -1);
  }

  /** Whether a process that ended in order has left what it had. */
  private boolean hasLeft(long of, Member member) {
    return stops.containsKey(member.getNode())
        && stops.get(member.getNode()).processes(of).contains(member);
  }

  /** Whether another process of a node has all that a member had. */
  private boolean standsFor(long of, long node, Member member) {
    return member.getNode() == node && hasLeft(of, member);
  }

  /** A process has no record of a group, which ends with it. */
  void onStopFailed(Throwable failure) {
    coverage.count("stops without a record");
    for (final long one : groups) {
      if (failure.getMessage().contains("group=" + one + ":")) {
        unwritten.add(one);
      }
    }
  }

  /** Ends a process in order; it starts again later. */
  void stop(long id, long restartMs) {
    final SimulatedNode node = nodes.get(id);
    if (!node.isAlive() || node.isStopping()) {
      return;
    }
    coverage.count("orderly stops");
    node.stop(() -> stopped(node, restartMs));
  }

  private void stopped(SimulatedNode node, long restartMs) {
    for (final Replica replica : node.replicas().all()) {
      if (replica.status().state() != ReplicaState.STOPPED) {
        throw new AssertionError("a replica goes on as its process ends:\n" + describe());
      }
    }
    addCounts(node);
    if (isOnDisk) {
      node.directory().close();
    }
    if (level == Durability.INTERVAL
        && node.store() != null
        && !node.directory().isFailed()
        && !unwritten.contains(group())) {
      losses.onLeaderEnds(node.id(), node.store().lasts());
    }
    node.end(false);
    coordinator.end(node.session(), time.random().nextInt(50) * MS);
    network.ended(node, true);
    time.after(restartMs * MS, () -> restart(node.id()));
  }

  /**
   * Whether the directories are there of all leaders whose directory may be the one that counts.
   */
  private boolean hasLeaders(GroupState state) {
    return nodes.containsKey(state.getEstablished().getLeader())
        && (!state.hasWon() || nodes.containsKey(state.getWon().getLeader()));
  }

  /** Whether the group survives the end of all processes. */
  boolean survivesAll() {
    return level == Durability.DISK || hasLeaders(coordinator.group(group));
  }

  /** Whether the group survives the loss of a node's directory. */
  boolean survivesWithout(long id) {
    final GroupState state = coordinator.group(group);
    if (isOnLeadersDisk()) { // the next leader may be established as it gets lost
      return state.hasEstablished()
          && hasOther(group, state.getEstablished(), id, id)
          && (!state.hasWon() || hasOther(group, state.getWon(), id, id));
    }
    return state.hasEstablished()
        && hasOtherDirectory(state.getEstablished(), id)
        && (!state.hasWon() || hasOtherDirectory(state.getWon(), id));
  }

  /** What was acknowledged may be lost from now on; no version may be given twice all the same. */
  void acceptLoss(SimulatedNode best) {
    hasLost = true;
    coordinator.recover(group, best.id(), best.replica().status().log().process());
    coverage.count("accepted losses");
  }

  private boolean hasOtherDirectory(Configuration configuration, long id) {
    for (final Member member : configuration.getMembersList()) {
      final SimulatedNode node = nodes.get(member.getNode());
      if (member.getNode() != id
          && hasDirectory(member)
          && (!node.isAlive()
              || (node.replica() != null
                  && node.replica().status().state() != ReplicaState.NONE))) {
        return true;
      }
    }
    return false;
  }

  /** Ends a process, whose directory is lost: another node comes in its place. */
  void lose(long id) {
    if (nodes.get(id).isAlive()) {
      crash(id, random.nextBoolean(), -1);
    }
    nodes.remove(id);
    directories.remove(id);
    copies.remove(id);
    stops.remove(id);
    coverage.count("lost directories");
    final long other = ++lastId;
    time.after(random.nextInt(1_000) * MS, () -> start(other));
  }

  /** Starts another node. */
  void addNode() {
    coverage.count("more nodes");
    start(++lastId);
  }

  /** Ends all processes at once; each comes back some time. */
  void cutPower() {
    for (final SimulatedNode node : List.copyOf(nodes.values())) {
      if (node.isAlive()) {
        crash(node.id(), random.nextBoolean(), random.nextInt(3_000));
      }
    }
    coverage.count("cuts of all power");
  }

  private boolean hasOther(long of, Configuration configuration, long id, long second) {
    for (final Member member : configuration.getMembersList()) {
      final SimulatedNode node = nodes.get(member.getNode());
      if (hasLeft(of, member)) {
        return true;
      }
      if (member.getNode() != id
          && member.getNode() != second
          && node != null // its directory is lost
          && node.isAlive()
          && !network.memory().isDamaged(node)
          && (node.directory() == null || !node.directory().isFailed()) // it gives up soon
          && Configurations.is(member, node.node())
          && node.replica(of) != null
          && node.replica(of).status().state() != ReplicaState.NONE
          && node.replica(of).status().state() != ReplicaState.STOPPED) {
        return true;
      }
    }
    return false;
  }

  /** Ends a process; it starts again later. */
  void crash(long id, boolean isHeard, long restartMs) {
    final SimulatedNode node = nodes.get(id);
    addCounts(node);
    noteSynced(node);
    node.end(!isHeard);
    coordinator.end(node.session(), random.nextBoolean() ? 0 : random.nextInt(3_000) * MS);
    network.ended(node, isHeard);
    coverage.count(isHeard ? "kills" : "power cuts");
    if (restartMs >= 0) {
      time.after(restartMs * MS, () -> restart(id));
    }
  }

  private void noteSynced(SimulatedNode node) {
    if (level == Durability.INTERVAL
        && node.store() != null
        && node.store().isLeading()
        && !node.directory().isFailed()) {
      losses.onLeaderEnds(node.id(), node.directory().synced(node.replica().status().gate()));
    }
  }

  /** A leader begins to serve. */
  void onLead(SimulatedNode leader, SimulatedStore store, GroupState state) {
    if (level == Durability.INTERVAL && !hasLost) {
      losses.onLead(leader, store, state);
    }
  }

  private void restart(long id) {
    if (nodes.containsKey(id) && !nodes.get(id).isAlive()) {
      coverage.count("restarts");
      if (copiesAreServed) {
        copyOrSetBack(id);
      }
      start(id);
    }
  }

  /** Has processes that start again find an older state of their directories now and then. */
  void serveCopies() {
    copiesAreServed = true;
  }

  /** Copies the directory of a node that has no process, or puts an older copy in its place. */
  private void copyOrSetBack(long id) {
    final SimulatedDirectory copy = copies.get(id);
    if (isCopy(id)) {
      return; // once
    }
    if (copy == null) {
      copies.put(id, directories.get(id).copy(incarnations));
    } else if (survivesWithout(id)) {
      coverage.count("older states");
      copy.takePlace(incarnations);
      directories.put(id, copies.remove(id));
    }
  }

  private boolean isCopy(long id) {
    return directories.containsKey(id) && directories.get(id).isCopy();
  }

  /** Whether a node has the directory that it had when it was this member. */
  private boolean hasDirectory(Member member) {
    final SimulatedDirectory directory = directories.get(member.getNode());
    return directory != null && directory.isOf(member.getIncarnation());
  }

  void pause(long id, long ms) {
    final SimulatedNode node = nodes.get(id);
    node.pause();
    coverage.count("pauses");
    time.after(ms * MS, node::resume);
  }

  /** The node whose replica serves, by what it knows itself; null: none. */
  SimulatedNode leader() {
    return leader(group);
  }

  private SimulatedNode leader(long of) {
    SimulatedNode found = null;
    long epoch = -1;
    for (final SimulatedNode node : nodes.values()) {
      if (node.isAlive() && node.store(of) != null && node.store(of).isLeading()) {
        final long gate = node.replica(of).status().gate();
        if (gate > epoch) {
          found = node;
          epoch = gate;
        }
      }
    }
    return found;
  }

  // Clients.

  /** Starts clients that read a leader's memory, until the world settles. */
  void startReaders(int count) {
    readers.start(count);
  }

  /** Notes what such a client has read. */
  void read(int key, Answer answer, long invokedNs) {
    final Call read = Call.read(Call.Kind.GET);
    history.add(new Operation(key, read, answer, false, invokedNs, time.nowNs()));
  }

  static ByteString name(int key) {
    return ByteString.copyFromUtf8("k" + key);
  }

  /** Starts clients, which go on until told to end. */
  void startClients(int count, long thinkNs) {
    clients++;
    final int crew = clients;
    for (int i = 0; i < count; i++) {
      think(crew, thinkNs);
    }
  }

  void stopClients() {
    clients++;
  }

  private void think(int crew, long thinkNs) {
    time.after(
        (long) (random.nextDouble() * 2 * thinkNs),
        () -> {
          if (crew == clients) {
            new Request(crew, thinkNs).begin();
          }
        });
  }

  /** One call of a client, which then thinks and calls again. */
  private final class Request {
    private final int crew;
    private final long thinkNs;
    private final int number = groups.size() == 1 ? 0 : random.nextInt(groups.size());
    private final long of = groups.get(number);
    private final int key = random.nextInt(KEYS);
    private final ByteString name = ReplicationWorld.name(key);
    private final long invokedNs = time.nowNs();
    private Call made; // null: nothing was sent
    private SimulatedNode node;
    private boolean ended;

    Request(int crew, long thinkNs) {
      this.crew = crew;
      this.thinkNs = thinkNs;
    }

    void begin() {
      final List<SimulatedNode> serving =
          nodes.values().stream()
              .filter(one -> one.isAlive() && one.store(of) != null && one.store(of).isLeading())
              .toList();
      if (serving.isEmpty()) {
        think(crew, Math.max(thinkNs, MS));
        return;
      }
      if (serving.size() > 1) {
        coverage.count("calls while two serve");
      }
      node = serving.get(random.nextInt(serving.size()));
      time.after(PATIENCE_NS, () -> end(Answer.OPEN));
      time.after(time.delayNs(), () -> node.run(this::call));
    }

    private boolean isFull() {
      final LeaderLog log = node.replica(of).serving();
      return log != null && !log.hasRoom();
    }

    private void call() {
      if (ended || node.store(of) == null || !node.store(of).isLeading()) {
        end(null);
        return;
      }
      if (node.stops().has(of)) {
        throw new AssertionError("serves with a record of a stop: node=" + node.id());
      }
      if (isFull()) {
        coverage.count("full logs");
      }
      final int choice = random.nextInt(10);
      if (choice < 4) {
        read();
      } else if (choice < 8) {
        final long value = ++lastValue;
        made = Call.put(value);
        submit(write().put(name, text(value)));
      } else if (choice < 9) {
        made = Call.delete();
        submit(write().delete(name));
      } else {
        final long value = ++lastValue;
        final Entry there = node.store(of).read(name);
        final long expected = there == null || time.oneIn(4) ? 0 : there.getVersion();
        made = Call.compareAndSet(expected, value);
        submit(write().compareAndSet(name, expected, text(value)));
      }
    }

    private void submit(Write write) {
      if (node.store(of).submit(write, name) == Write.QUEUE_FULL) {
        made = null;
        end(null);
      }
    }

    private Write write() {
      return new Write(
          write -> {
            final long delayNs = time.delayNs();
            if (write.outcome() == Write.UNAVAILABLE) {
              made = null;
              end(null);
            } else if (write.outcome() == Write.DONE) {
              final Answer answer = answer(write);
              if (write.applied() || write.existed() || write.kind() == WriteKind.PUT) {
                time.after(delayNs, () -> end(answer));
              } else { // no record waits for its commit
                confirm(() -> time.after(delayNs, () -> end(answer)));
              }
            } else if (write.outcome() == Write.UNKNOWN) {
              coverage.count("unknown writes");
              end(Answer.OPEN);
            } else if (write.outcome() == Write.LOG_FULL && node.directory().isShort) {
              coverage.count("writes refused by a full disk");
              made = null;
              end(null);
            } else if (write.outcome() == Write.OVER_QUOTA) {
              coverage.count(write.kind() + " refused by a quota");
              made = null;
              end(null);
            } else {
              throw new AssertionError("outcome=" + write.outcome());
            }
          });
    }

    private Answer answer(Write write) {
      return switch (write.kind()) {
        case PUT -> new Answer(write.created(), write.version(), 0);
        case DELETE -> new Answer(write.existed(), 0, 0);
        default -> {
          final Entry entry = write.entry();
          yield new Answer(
              write.applied(),
              entry == null ? 0 : entry.getVersion(),
              entry == null ? 0 : number(entry.getValue()));
        }
      };
    }

    private void read() {
      made = Call.read(Call.Kind.GET);
      final SimulatedStore store = node.store(of);
      final int generation = store.generation();
      confirm(
          () -> {
            final long lateNs = time.oneIn(4) ? time.delayNs() : 0;
            time.after(lateNs, () -> node.run(() -> look(store, generation)));
          });
    }

    private void confirm(Runnable next) {
      final SimulatedStore store = node.store(of);
      if (store.isLeading() && store.log().isAlone()) {
        coverage.count("reads without a barrier");
        next.run();
        return;
      }
      node.replica(of)
          .confirm(
              new Confirmation() {
                @Override
                public void onConfirmed(boolean leads) {
                  if (leads) {
                    next.run();
                  } else {
                    coverage.count("refused reads");
                    made = null;
                    end(null);
                  }
                }
              });
    }

    private void look(SimulatedStore store, int generation) {
      if (store.generation() != generation) {
        made = null;
        end(null);
        return;
      }
      final Entry entry = store.read(name);
      final Answer answer =
          entry == null
              ? Answer.ABSENT
              : new Answer(true, entry.getVersion(), number(entry.getValue()));
      coverage.count("reads");
      time.after(time.delayNs(), () -> end(answer));
    }

    private void end(Answer answer) {
      if (ended) {
        return;
      }
      ended = true;
      if (made != null && answer != null) {
        coverage.count(answer.equals(Answer.OPEN) ? "open calls" : "answered calls");
        final int place = number * KEYS + key;
        history.add(new Operation(place, made, answer, false, invokedNs, time.nowNs()));
      }
      think(crew, thinkNs);
    }
  }

  private ByteString text(long value) {
    return ByteString.copyFromUtf8(value + "x".repeat((int) (value % 97)));
  }

  static long number(ByteString text) {
    return Long.parseLong(text.toStringUtf8().replace("x", ""));
  }

  // The end.

  /** Heals everything, and checks what must hold. */
  void settle() {
    stopClients();
    if (appends != null) {
      appends.stop();
    }
    network.heal();
    coordinator.loses = false;
    storesFail = false;
    network.damages = false;
    for (final SimulatedNode node : List.copyOf(nodes.values())) {
      if (isOnDisk) {
        node.directory().fills = false;
        node.directory().isFull = false;
        node.directory().isShort = false;
      }
      if (node.isAlive() && hasFailed(node)) { // its operator starts it again
        if (isOnDisk || survives(node.id())) {
          crash(node.id(), true, -1);
        } else {
          stop(node.id(), 1);
        }
      }
      if (!node.isAlive()) {
        start(node.id());
      } else {
        node.resume();
        node.session().connect(true);
      }
    }
    final long limitNs = time.nowNs() + 60_000 * MS;
    for (int settled = 0; settled < 20; settled = isSettled() ? settled + 1 : 0) {
      if (time.nowNs() > limitNs) {
        throw new AssertionError("does not settle:\n" + describe());
      }
      time.run(50 * MS);
      checkErrors();
    }
    final long answered = coverage.of("answered calls");
    startClients(3, MS);
    time.run(300 * MS);
    stopClients();
    readers.stop();
    time.run(PATIENCE_NS + 500 * MS);
    checkErrors();
    if (coverage.of("answered calls") == answered && !groups.stream().allMatch(this::isLost)) {
      throw new AssertionError("serves nobody:\n" + describe());
    }
    for (final long one : groups) {
      if (isLost(one)) {
        coverage.count("lost groups");
        checkLost(one);
      } else {
        checkEqual(one);
        checkStopRecords(one);
        if (appends != null) {
          appends.check(leader(one).store(one));
        }
      }
    }
    for (final SimulatedNode node : nodes.values()) {
      addCounts(node);
    }
    final Optional<String> violation = hasLost ? Optional.empty() : losses.violation(history);
    if (violation.isPresent()) {
      throw new AssertionError(violation.get());
    }
    coverage.add("calls", history.size());
  }

  /** Whether the process has failed, and has on its disk what the group may need. */
  private boolean hasFailed(SimulatedNode node) {
    final boolean isNone =
        node.replica() != null && node.replica().status().state() == ReplicaState.NONE;
    if (isOnDisk) {
      return node.directory().isFailed() || isNone;
    }
    return groups.stream()
        .anyMatch(
            one ->
                node.stops().has(one)
                    && node.replica(one) != null
                    && node.replica(one).status().state() == ReplicaState.NONE);
  }

  private boolean isSettled() {
    return !network.isStalled() && groups.stream().allMatch(one -> isLost(one) || isSettled(one));
  }

  private boolean isSettled(long of) {
    final GroupState state = coordinator.group(of);
    final SimulatedNode leader = leader(of);
    return leader != null
        && !state.hasWon()
        && state.getEstablished().getLeader() == leader.id()
        && Configurations.has(state.getEstablished(), leader.node())
        && state.getEstablished().getMembersCount() == Math.min(replicas, nodes.size())
        && leader.replica(of).status().established()
        && leader.replica(of).status().gate() == state.getEstablished().getEpoch();
  }

  /** Nobody serves what is lost. */
  private void checkLost(long of) {
    if (leader(of) != null && !coordinator.group(of).hasWon()) {
      throw new AssertionError("serves what is lost: group=" + of + "\n" + describe());
    }
  }

  private void checkEqual(long of) {
    final SimulatedNode leader = leader(of);
    final GroupState state = coordinator.group(of);
    for (final Member member : state.getEstablished().getMembersList()) {
      final SimulatedNode node = nodes.get(member.getNode());
      if (!Objects.equals(node.store(of).content(), leader.store(of).content())) {
        throw new AssertionError(
            "node="
                + node.id()
                + " has "
                + node.store(of).content()
                + " and the leader "
                + leader.store(of).content()
                + "\n"
                + describe());
      }
    }
  }

  /** No record is left where the group has gone on: two removals may fail, a second each. */
  private void checkStopRecords(long of) {
    if (nodes.values().stream().anyMatch(node -> node.stops().has(of))) {
      time.run(2_500 * MS);
    }
    for (final SimulatedNode node : nodes.values()) {
      if (node.stops().has(of)) {
        throw new AssertionError("node=" + node.id() + " has a record of a stop:\n" + describe());
      }
    }
  }

  void checkErrors() {
    if (!errors.isEmpty()) {
      final AssertionError failure = new AssertionError("errors=" + errors.size());
      errors.forEach(failure::addSuppressed);
      throw failure;
    }
  }

  private void addCounts(SimulatedNode node) {
    if (node.replica() != null) {
      final ReplicaStatus.Counts counts = node.replica().status().counts();
      if (counts.damaged() > network.memory().damages(node)) {
        throw new AssertionError("what was placed could not be: " + node.replica().status());
      }
      coverage.add("lost placements", counts.damaged());
      coverage.add("serves", counts.serves());
      coverage.add("cuts", counts.cuts());
      coverage.add("refused messages", counts.refused());
      coverage.add("pieces", counts.pieces());
      coverage.add("joins", counts.joins());
      coverage.add("failed joins", counts.failedJoins());
    }
  }

  String describe() {
    final StringBuilder text = new StringBuilder();
    for (final long one : groups) {
      text.append(coordinator.group(one));
      for (final SimulatedNode node : nodes.values()) {
        text.append(node.id())
            .append(' ')
            .append(node.node().getIncarnation())
            .append(node.isAlive() ? " " : " dead ")
            .append(node.stops().processes(one))
            .append(node.replica(one) == null ? "no replica" : node.replica(one).status())
            .append('\n');
      }
    }
    return text.toString();
  }
}
