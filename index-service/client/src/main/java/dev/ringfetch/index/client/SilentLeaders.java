package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.NodeDescription;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The supervisor of attempts without an answer: connections to a leader that is suspended or cut
 * off do not end. After {@value #PATIENCE_MS} ms without an answer it asks the other nodes. If one
 * of them leads the index, it moves the attempt there. If none does, the attempt goes on, as a call
 * may take long; the supervisor asks again, after pauses that grow from {@value #PAUSE_MIN_MS} to
 * {@value #PAUSE_MAX_MS} ms, as long as an attempt at the silent node has no answer. It asks a node
 * again only after the node has answered or the question has timed out.
 *
 * <p>One check every {@value #CHECK_MS} ms serves all attempts, and runs only while there are
 * attempts. It counts an attempt's silence in checks, so that pauses of this process do not count.
 * Safe for use by many threads; checks are made on the client's pool.
 */
final class SilentLeaders {
  static final int PATIENCE_MS = 500;
  static final int CHECK_MS = 100;
  static final int PAUSE_MIN_MS = 100;
  static final int PAUSE_MAX_MS = 2000;

  private final Supplier<Collection<String>> addresses;
  private final Function<String, Channel> channels;
  private final ClientThreads threads;
  private final Set<Attempt> attempts = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean checking = new AtomicBoolean();

  /** Nodes with a question under way. */
  private final Set<String> asked = ConcurrentHashMap.newKeySet();

  /** The silent nodes, by address. Used by the check alone. */
  private final Map<String, Questions> silent = new HashMap<>();

  /** A call that was sent to a node. */
  abstract static class Attempt {
    final String index;
    final String address;
    private volatile int checks; // that have found it without an answer; of the check

    Attempt(String index, String address) {
      this.index = index;
      this.address = address;
    }

    /** Ends the attempt, unless it was answered: another node leads. */
    abstract void supersede(String leader);

    @SuppressWarnings("NonAtomicVolatileUpdate") // one check at a time
    private void check() {
      checks++;
    }

    /** True after enough checks; the first one may come right after the attempt began. */
    private boolean isLate() {
      return checks > PATIENCE_MS / CHECK_MS;
    }
  }

  /** The times of the questions about one silent node. Used by the check alone. */
  private final class Questions {
    private final Backoff backoff =
        new Backoff(
            TimeUnit.MILLISECONDS.toNanos(PAUSE_MIN_MS),
            TimeUnit.MILLISECONDS.toNanos(PAUSE_MAX_MS));
    private long nextNs = threads.nowNs();

    boolean areDue(long nowNs) {
      if (nowNs - nextNs < 0) {
        return false;
      }
      nextNs = nowNs + backoff.nextNs();
      return true;
    }
  }

  /**
   * Creates the watch.
   *
   * @param addresses of all nodes that are known
   * @param channels to them
   */
  SilentLeaders(
      Supplier<Collection<String>> addresses,
      Function<String, Channel> channels,
      ClientThreads threads) {
    this.addresses = addresses;
    this.channels = channels;
    this.threads = threads;
  }

  /** Notes that an attempt begins. */
  void began(Attempt attempt) {
    attempts.add(attempt);
    if (!checking.get() && checking.compareAndSet(false, true)) {
      schedule();
    }
  }

  /** Notes that an attempt has ended, or was answered. Idempotent. */
  void ended(Attempt attempt) {
    attempts.remove(attempt);
  }

  private void schedule() {
    threads.after(TimeUnit.MILLISECONDS.toNanos(CHECK_MS), this::check);
  }

  private void check() {
    try {
      final Set<String> late = new HashSet<>();
      for (final Attempt attempt : attempts) {
        attempt.check();
        if (attempt.isLate()) {
          late.add(attempt.address);
        }
      }
      silent.keySet().retainAll(late);
      final long nowNs = threads.nowNs();
      boolean due = false;
      for (final String address : late) {
        due |= silent.computeIfAbsent(address, unused -> new Questions()).areDue(nowNs);
      }
      if (due) {
        addresses.get().stream().filter(each -> !late.contains(each)).forEach(this::ask);
      }
    } finally {
      checking.set(false);
      if (!attempts.isEmpty() && checking.compareAndSet(false, true)) {
        schedule();
      }
    }
  }

  /** Asks a node for the indexes that it leads, unless a question is under way. */
  private void ask(String address) {
    if (!asked.add(address)) {
      return;
    }
    boolean sent = false;
    try {
      ClientCalls.asyncUnaryCall(
          channels
              .apply(address)
              .newCall(
                  IndexAdminGrpc.getDescribeClusterMethod(),
                  CallOptions.DEFAULT
                      .withExecutor(threads.pool())
                      .withDeadlineAfter(PATIENCE_MS, TimeUnit.MILLISECONDS)),
          DescribeClusterRequest.getDefaultInstance(),
          new StreamObserver<DescribeClusterResponse>() {
            @Override
            public void onNext(DescribeClusterResponse answer) {
              answered(answer);
            }

            @Override
            public void onError(Throwable failure) {
              asked.remove(address); // it does not lead, as far as this client can use it
            }

            @Override
            public void onCompleted() {
              asked.remove(address);
            }
          });
      sent = true;
    } finally {
      if (!sent) {
        asked.remove(address);
      }
    }
  }

  private void answered(DescribeClusterResponse answer) {
    final Map<String, String> led = new HashMap<>();
    for (final NodeDescription node : answer.getNodesList()) {
      if (node.getNode() == answer.getNode()) {
        for (final GroupDescription group : answer.getGroupsList()) {
          if (group.getLeader() == node.getNode()
              && group.getEstablished()
              && group.getRole().equals("LEADING")) {
            led.put(group.getIndex(), node.getAddress());
          }
        }
      }
    }
    for (final Attempt attempt : attempts) {
      final String leader = led.get(attempt.index);
      if (leader != null && !leader.equals(attempt.address) && attempt.isLate()) {
        attempt.supersede(leader);
      }
    }
  }
}
