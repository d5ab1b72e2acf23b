package dev.ringfetch.index.replication;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.journal.StopRecords;
import dev.ringfetch.index.log.GroupDisk;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.v1.Node;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/** Options of the replicas of a node. Setters return this. */
public final class NodeContext {
  Node self;
  Coordinator coordinator;
  Peers peers;
  GroupStore.Factory stores;
  LongFunction<GroupDisk> disks;
  LongFunction<GroupGate> gates = group -> GroupGate.NONE;
  StopRecords stops;
  LongSupplier clock = System::nanoTime;
  LongSupplier nonces = new SecureRandom()::nextLong;
  ReplicaContext.Limits limits = ReplicaContext.Limits.DEFAULT;
  Runnable alarm = () -> {};
  Executor background = Runnable::run;
  ErrorHandler errors = failure -> {};

  /** Creates the defaults. */
  public NodeContext() {}

  /** Sets the node, as it was announced. */
  public NodeContext self(Node node) {
    self = node;
    return this;
  }

  /** Sets the coordinator, which is used by the thread that works alone. */
  public NodeContext coordinator(Coordinator used) {
    coordinator = used;
    return this;
  }

  /** Sets the connections to other nodes; null: there are none. */
  public NodeContext peers(@Nullable Peers used) {
    peers = used;
    return this;
  }

  /** Sets what creates the stores. */
  public NodeContext stores(GroupStore.Factory factory) {
    stores = factory;
    return this;
  }

  /** Sets what opens the disk of a group, where the node has one; null, as unless set: none. */
  public NodeContext disks(@Nullable LongFunction<GroupDisk> factory) {
    disks = factory;
    return this;
  }

  /** Sets what opens the gate of a group's replica, at which clients look. */
  public NodeContext gates(LongFunction<GroupGate> factory) {
    gates = factory;
    return this;
  }

  /** Sets what has the records of processes that ended in order; null, as unless set: none. */
  public NodeContext stops(@Nullable StopRecords records) {
    stops = records;
    return this;
  }

  /** Sets the clock, in nanoseconds. */
  public NodeContext clock(LongSupplier nanoClock) {
    clock = nanoClock;
    return this;
  }

  /** Sets what draws numbers at random. */
  public NodeContext nonces(LongSupplier random) {
    nonces = random;
    return this;
  }

  /**
   * Sets how much of each group's log is kept, in bytes: records that wait for their commit, beyond
   * which writers wait (16 MiB unless set), and records for a node that joins, beyond which it
   * begins anew (64 MiB).
   */
  public NodeContext logLimits(int waiting, int tail) {
    if (waiting < 1 || tail < 1) {
      throw new IllegalArgumentException("waiting=" + waiting + " tail=" + tail);
    }
    limits = new ReplicaContext.Limits(waiting, tail, limits.memory(), limits.nodeTimeoutNs());
    return this;
  }

  /** Sets the bytes of memory in which a leader may place records (4 MiB unless set). */
  public NodeContext logMemory(int bytes) {
    limits =
        new ReplicaContext.Limits(limits.waiting(), limits.tail(), bytes, limits.nodeTimeoutNs());
    return this;
  }

  /**
   * Sets the time without a message after which a node is taken for dead, 500 ms unless set. It
   * grows by itself, up to {@value Silence#MOST} times, where messages come late.
   *
   * @param timeout {@value Replicas#NODE_TIMEOUT_MIN_MS} ms, which are four heartbeats, to {@value
   *     #NODE_TIMEOUT_MAX_MS} ms
   */
  public NodeContext nodeTimeout(Duration timeout) {
    if (timeout.compareTo(Duration.ofMillis(Replicas.NODE_TIMEOUT_MIN_MS)) < 0
        || timeout.compareTo(Duration.ofMillis(Replicas.NODE_TIMEOUT_MAX_MS)) > 0) {
      throw new IllegalArgumentException("timeout=" + timeout);
    }
    limits =
        new ReplicaContext.Limits(
            limits.waiting(), limits.tail(), limits.memory(), timeout.toNanos());
    return this;
  }

  /** Sets what is run, on any thread, when {@link Replicas#work} is due at once. */
  public NodeContext alarm(Runnable run) {
    alarm = run;
    return this;
  }

  /** Sets what carries out, in order, what waits for a disk; unless set, the caller's thread. */
  public NodeContext background(Executor executor) {
    background = executor;
    return this;
  }

  /** Sets what is told what stores and callers throw, on any thread. */
  public NodeContext errors(ErrorHandler handler) {
    errors = handler;
    return this;
  }
}
