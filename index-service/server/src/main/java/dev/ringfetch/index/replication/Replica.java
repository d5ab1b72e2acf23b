package dev.ringfetch.index.replication;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The replica of one group on one node.
 *
 * <p>No thread waits for another: each enqueues what has happened and tries to take the replica's
 * token; the thread that gets it does {@linkplain ReplicaCycle cycles} for all, as in a partition.
 * The thread calls listeners, of commits and of barriers, without the token. Safe for use by many
 * threads.
 */
public final class Replica {
  /** The most events of one cycle. */
  private static final int EVENT_LIMIT = 64;

  private final ReplicaContext context;
  private final ReplicaCycle cycle;
  private final NodeRest rest;
  private final boolean hasRecovered; // from the record of an orderly stop
  private final ConcurrentLinkedQueue<Event> events = new ConcurrentLinkedQueue<>();
  private final AtomicReference<Confirmation> confirmations = new AtomicReference<>();
  private final AtomicBoolean owned = new AtomicBoolean();
  private final AtomicLong cycles = new AtomicLong(); // that have begun
  private volatile LeaderLog serving;
  private volatile LeaderLog served; // failed, and may have to tell
  private volatile boolean looking;
  private volatile boolean stopRecordVoid;
  private volatile boolean handedOver;
  private volatile Proposal proposal;
  private volatile Map<Long, Node> wanted = Map.of();
  private volatile ReplicaStatus status;
  private volatile long dueNs; // the next cycle

  // Of the node's thread.
  private long seenCycles;
  private long seenNs; // since when they are as many, by one owner

  /** Something that has happened. */
  private interface Event {
    void act(ReplicaCycle cycle);
  }

  /**
   * Creates a replica that is no member.
   *
   * @param rest of the node's thread: ends when there is a proposal, other nodes are wanted, {@link
   *     #isLooking} has become true, or a cycle is due earlier
   */
  Replica(ReplicaContext context, NodeRest rest) {
    this(context, null, rest);
  }

  /** Creates one that goes on with what an earlier process has left on the disk; null: nothing. */
  Replica(ReplicaContext context, GroupRecovery recovery, NodeRest rest) {
    this.context = context;
    this.rest = rest;
    cycle = new ReplicaCycle(context, recovery, this::drive);
    hasRecovered = recovery != null && !recovery.processes().isEmpty();
    if (context.disk() != null) {
      context.disk().onChange(this::drive);
    }
    status = cycle.status();
    dueNs = cycle.dueNs();
  }

  /** Number of the group. */
  public long group() {
    return context.group();
  }

  /** The store of the records. */
  public GroupStore store() {
    return context.store();
  }

  /** The last published status of the replica. */
  public ReplicaStatus status() {
    return status;
  }

  /**
   * Asks whether this replica still leads. The answer comes once, possibly within this call.
   *
   * @param confirmation is asked for nothing else before it is answered
   */
  public void confirm(Confirmation confirmation) {
    Confirmation before;
    do {
      before = confirmations.get();
      confirmation.following = before;
    } while (!confirmations.compareAndSet(before, confirmation));
    drive();
  }

  /**
   * Begins a copy of what the disk has of the group.
   *
   * @param wake is run, on any thread, when there is something to take
   */
  GroupCopy copy(Runnable wake) {
    final GroupCopy begun = new GroupCopy(context, this::drive, wake);
    submit(of -> of.copies().begin(begun));
    return begun;
  }

  /**
   * Begins to end the replica in order.
   *
   * @param wake is run, on any thread, when there is something to take
   */
  StopCopy stop(Runnable wake) {
    final StopCopy begun = new StopCopy(context, this::drive, wake);
    submit(of -> of.copies().begin(begun));
    return begun;
  }

  /** The node begins to end in order. */
  void onNodeEnds() {
    submit(of -> of.nodeEnd().begin());
  }

  /** The node that ends hands nothing over any more. */
  void onHandOverEnds() {
    submit(of -> of.nodeEnd().endHandOver());
  }

  /** Whether the node ends, and nobody is to lead in the place of this replica, or does. */
  boolean hasHandedOver() {
    return handedOver;
  }

  /** Whether the record that an earlier process has left counts nowhere any more. */
  boolean isStopRecordVoid() {
    return stopRecordVoid;
  }

  /** Whether an earlier process has left a record, which may be there yet. */
  boolean mayHaveStopRecord() {
    return hasRecovered;
  }

  /** The record that an earlier process has left is gone. */
  void onStopRecordRemoved() {
    submit(ReplicaCycle::onStopRecordRemoved);
  }

  /**
   * Whether the owner has been in one cycle for so long. By the node's thread, in intervals.
   *
   * @param limitNs the time
   * @param isFirst whether the process may have stood since the look before, which does not count
   */
  boolean isStuck(long nowNs, long limitNs, boolean isFirst) {
    final long begun = cycles.get();
    if (isFirst || begun != seenCycles || !owned.get()) {
      seenCycles = begun;
      seenNs = nowNs;
    }
    return nowNs - seenNs > limitNs;
  }

  /** Whether the group is kept on a disk. */
  boolean isOnDisk() {
    return context.disk() != null;
  }

  /** Takes a message, which is carried out when the replica is driven. */
  void onMessage(long from, LeaderMessage message) {
    events.add(of -> of.onMessage(from, message));
  }

  void onAnswer(long from, MemberMessage answer) {
    submit(of -> of.onAnswer(from, answer));
  }

  void onConnected(long node) {
    submit(of -> of.onConnected(node));
  }

  void onDisconnected(long node) {
    submit(of -> of.onDisconnected(node));
  }

  /** A node says that its replica does its part in an epoch no more. */
  void onReported(long node, long epoch) {
    submit(of -> of.onReported(node, epoch));
  }

  /** A cycle is due, or a node has become silent: one begins after this, not before. */
  void onDue() {
    submit(of -> {});
  }

  void onLeaderGone(long node) {
    submit(of -> of.onLeaderGone(node));
  }

  void onGroup(GroupState state) {
    submit(of -> of.onGroup(state));
  }

  /** The nodes that live are others. The newest ones are looked at when the event is. */
  void onNodes(Supplier<Map<Long, Node>> living) {
    submit(of -> of.onNodes(living.get()));
  }

  /** Whether the coordinator can be reached has changed. */
  void onCoordinated(BooleanSupplier reachable) {
    submit(of -> of.onCoordinated(reachable.getAsBoolean()));
  }

  /** There are connections to these nodes already, where the replica is new. */
  void onConnections(Set<Long> nodes) {
    submit(of -> nodes.forEach(of::onConnected));
  }

  void onProposed(Coordinator.Result result, GroupState state) {
    submit(of -> of.onAnswer(result, state));
  }

  /** The node ends: the store serves no more. */
  void close() {
    submit(ReplicaCycle::stop);
  }

  /** The group was dropped: the store serves no more, and the disk keeps nothing. */
  void drop() {
    submit(ReplicaCycle::onDropped);
  }

  private void submit(Event event) {
    events.add(event);
    drive();
  }

  /** Takes a proposal to be made; null if there is none. One thread at a time. */
  @Nullable Proposal takeProposal() {
    final Proposal taken = proposal;
    proposal = null;
    return taken;
  }

  /** The log of the partitions while the store serves; else null. */
  LeaderLog serving() {
    return serving;
  }

  /** The nodes to which this replica needs a connection. */
  Map<Long, Node> wanted() {
    return wanted;
  }

  /**
   * Whether a look at a member's gate was under way after the last cycle: another one takes its
   * result.
   */
  boolean isLooking() {
    return looking;
  }

  /** Time at which the next cycle is due if nothing happens before. */
  long dueNs() {
    return dueNs;
  }

  /** Runs due cycles, unless another thread is the owner. */
  void drive() {
    // The caller's change comes before its attempt at the token; the owner's release comes before
    // its check.
    VarHandle.fullFence();
    ReplicaTurns.ofThread().run(this);
  }

  /** Does cycles as long as something is due and no other thread has the token. */
  void doCycles() {
    boolean again = true;
    while (again) {
      if (owned.get() || !owned.compareAndSet(false, true)) {
        return;
      }
      cycles.lazySet(cycles.getPlain() + 1);
      Confirmation answered = null;
      boolean alarmed = false;
      try {
        again = work();
        alarmed = publish();
        answered = cycle.output().takeAnswered();
      } catch (Throwable t) { // what was done is unknown
        context.errors().onError(t);
        cycle.fail();
        publish();
        answered = cycle.output().takeAnswered();
      } finally {
        owned.set(false); // in any case: a replica with a lost token hangs
      }
      tell(answered, alarmed);
      rest.endBefore(dueNs);
      final LeaderLog log = serving;
      again |= !events.isEmpty() || confirmations.get() != null;
      again |= log != null && log.hasAppended();
    }
  }

  private boolean work() {
    int left = EVENT_LIMIT;
    Event event = null;
    while (left-- > 0 && (event = events.poll()) != null) {
      event.act(cycle);
    }
    final Confirmation chain = confirmations.get() == null ? null : confirmations.getAndSet(null);
    if (chain != null) {
      cycle.confirm(chain);
    }
    return cycle.work();
  }

  /** Shows others what they look at; returns whether there is something new for the node. */
  private boolean publish() {
    final LeaderLog log = cycle.serving();
    if (log != serving) {
      served = serving;
      serving = log;
    }
    final boolean looks = cycle.isLooking();
    boolean isNew = looks && !looking;
    looking = looks;
    final Proposal next = cycle.output().takeRequest();
    if (next != null) {
      proposal = next;
      isNew = true;
    }
    dueNs = cycle.dueNs();
    final boolean isVoid = cycle.isStopRecordVoid();
    isNew |= isVoid && !stopRecordVoid;
    stopRecordVoid = isVoid;
    handedOver = cycle.hasHandedOver();
    if (cycle.takeChanged()) {
      status = cycle.status();
      final Map<Long, Node> nodes = cycle.wanted();
      isNew |= !nodes.equals(wanted);
      wanted = nodes;
    }
    return isNew;
  }

  private void tell(Confirmation answered, boolean alarmed) {
    if (alarmed) {
      rest.end();
    }
    final LeaderLog failed = served;
    if (failed != null) {
      failed.tell(context.errors());
    }
    final LeaderLog log = serving;
    if (log != null) {
      log.tell(context.errors());
    }
    Confirmation next = answered;
    while (next != null) {
      final Confirmation one = next;
      next = one.following;
      one.following = null;
      try {
        one.onConfirmed(one.confirmed);
      } catch (Throwable t) { // the next one is told all the same
        context.errors().onError(t);
      }
    }
  }
}
