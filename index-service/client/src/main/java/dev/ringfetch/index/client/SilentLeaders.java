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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The watch over attempts that get no answer: a leader that stands still, or is cut off, ends no
 * connection. After {@value #PATIENCE_MS} ms without an answer the other nodes are asked; if one of
 * them leads the index, the attempt is superseded, and made there. If none does, the attempt goes
 * on: a call may take long.
 *
 * <p>One check every {@value #CHECK_MS} ms for all attempts together, and only while there are
 * some. Safe for use by many threads; has no thread of its own: checks are made on the JVM's common
 * pool.
 */
final class SilentLeaders {
  static final int PATIENCE_MS = 500;
  private static final int CHECK_MS = 100;

  private final Supplier<Collection<String>> addresses;
  private final Function<String, Channel> channels;
  private final Set<Attempt> attempts = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean checking = new AtomicBoolean();

  /** A call that was sent to a node. */
  abstract static class Attempt {
    private final long beginNs = System.nanoTime();
    final String index;
    final String address;

    Attempt(String index, String address) {
      this.index = index;
      this.address = address;
    }

    /** Ends the attempt, unless it was answered: another node leads. */
    abstract void supersede(String leader);

    private boolean isLate(long nowNs) {
      return nowNs - beginNs > TimeUnit.MILLISECONDS.toNanos(PATIENCE_MS);
    }
  }

  /**
   * Creates the watch.
   *
   * @param addresses of all nodes that are known
   * @param channels to them
   */
  SilentLeaders(Supplier<Collection<String>> addresses, Function<String, Channel> channels) {
    this.addresses = addresses;
    this.channels = channels;
  }

  /** An attempt begins. */
  void began(Attempt attempt) {
    attempts.add(attempt);
    if (!checking.get() && checking.compareAndSet(false, true)) {
      schedule();
    }
  }

  /** An attempt has ended, or its answer has come. Idempotent. */
  void ended(Attempt attempt) {
    attempts.remove(attempt);
  }

  private void schedule() {
    CompletableFuture.delayedExecutor(CHECK_MS, TimeUnit.MILLISECONDS).execute(this::check);
  }

  private void check() {
    try {
      final long nowNs = System.nanoTime();
      final Set<String> silent = new HashSet<>();
      for (final Attempt attempt : attempts) {
        if (attempt.isLate(nowNs)) {
          silent.add(attempt.address);
        }
      }
      if (!silent.isEmpty()) {
        addresses.get().stream().filter(each -> !silent.contains(each)).forEach(this::ask);
      }
    } finally {
      checking.set(false);
      if (!attempts.isEmpty() && checking.compareAndSet(false, true)) {
        schedule();
      }
    }
  }

  /** Asks a node what it leads. */
  private void ask(String address) {
    ClientCalls.asyncUnaryCall(
        channels
            .apply(address)
            .newCall(
                IndexAdminGrpc.getDescribeClusterMethod(),
                CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_MS, TimeUnit.MILLISECONDS)),
        DescribeClusterRequest.getDefaultInstance(),
        new StreamObserver<DescribeClusterResponse>() {
          @Override
          public void onNext(DescribeClusterResponse answer) {
            answered(answer);
          }

          @Override
          public void onError(Throwable failure) {
            // It does not lead, as far as this client can use it.
          }

          @Override
          public void onCompleted() {}
        });
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
    final long nowNs = System.nanoTime();
    for (final Attempt attempt : attempts) {
      final String leader = led.get(attempt.index);
      if (leader != null && !leader.equals(attempt.address) && attempt.isLate(nowNs)) {
        attempt.supersede(leader);
      }
    }
  }
}
