package dev.ringfetch.index.client;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.ringfetch.index.direct.NodeAddress;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.Trailers;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * The channel to the nodes of a cluster: sends each call to the leader of its index, which it
 * learns from the nodes themselves.
 *
 * <p>A node that does not lead the index refuses the call and names the leader, and the call goes
 * there. A call that waits for ready and ends UNAVAILABLE is made again at the next node, after
 * growing pauses, until its deadline, whether it was sent or not. A call that does not wait ends
 * UNAVAILABLE, and the next call tries another node. A unary call to a leader that does not answer
 * counts as UNAVAILABLE once {@linkplain SilentLeaders another node leads}.
 *
 * <p>A call with a {@link NodeAddress} goes to that node, and to no other. Requests have one
 * message. Safe for use by many threads; has no thread of its own. Pauses end on the client's pool.
 * The end of a call that no node has ended is delivered on the executor of the call, by default on
 * that of the client.
 */
final class LeaderChannel extends ManagedChannel {
  /** Limit of consecutive refusals of a call: more than there are elections in its time. */
  private static final int MOST_REFUSALS = 16;

  private static final long PAUSE_MIN_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final long PAUSE_MAX_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /**
   * Divisor of the time since the call began: a pause is this part of it, so little time is lost
   * after a fail-over.
   */
  private static final int PAUSE_PART = 8;

  private final ClusterNodes nodes;
  private final SilentLeaders silent;
  private final ClientThreads threads;
  private final Map<Class<?>, Function<Message, String>> indexes = new ConcurrentHashMap<>();

  /**
   * Creates the channel.
   *
   * @param targets addresses of some nodes
   * @param connect makes the channel to an address
   */
  LeaderChannel(Targets targets, Function<String, ManagedChannel> connect, ClientThreads threads) {
    nodes = new ClusterNodes(targets, connect);
    silent = new SilentLeaders(nodes::addresses, nodes::channel, threads);
    this.threads = threads;
  }

  /** The nodes of the cluster. */
  ClusterNodes nodes() {
    return nodes;
  }

  @Override
  public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
    nodes.connect();
    return new RoutedCall<>(method, options);
  }

  @Override
  public void resetConnectBackoff() {
    nodes.resetConnectBackoff();
  }

  @Override
  public String authority() {
    return nodes.authority();
  }

  private String index(Object request) {
    return request instanceof Message message
        ? indexes.computeIfAbsent(request.getClass(), unknown -> field(message)).apply(message)
        : "";
  }

  private static Function<Message, String> field(Message request) {
    final FieldDescriptor field = request.getDescriptorForType().findFieldByName("index");
    return field == null || field.getJavaType() != FieldDescriptor.JavaType.STRING
        ? message -> ""
        : message -> (String) message.getField(field);
  }

  @Override
  public ManagedChannel shutdown() {
    nodes.close(ManagedChannel::shutdown);
    return this;
  }

  @Override
  public ManagedChannel shutdownNow() {
    nodes.close(ManagedChannel::shutdownNow);
    return this;
  }

  @Override
  public boolean isShutdown() {
    return nodes.isClosed();
  }

  @Override
  public boolean isTerminated() {
    return nodes.isTerminated();
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return nodes.awaitTermination(timeout, unit);
  }

  /** A call that may be made at several nodes, one after the other. */
  private final class RoutedCall<Q, R> extends ClientCall<Q, R> {
    private final MethodDescriptor<Q, R> method;
    private final CallOptions options;
    private Listener<R> listener;
    private Metadata headers;
    private Q message;
    private int refusals;
    private final Set<String> alive = new HashSet<>(); // nodes that have refused the call
    private final Set<String> lost = new HashSet<>(); // nodes that did not answer it last
    private String named; // the leader that a node has named last; null: none has named one
    private boolean hurries; // the last attempt came without a pause
    private final long beginNs = System.nanoTime();

    // Guarded by this.
    private ClientCall<Q, R> current; // null before the first, and during pauses
    private int requested;
    private Status cancelled; // null: it is not

    RoutedCall(MethodDescriptor<Q, R> method, CallOptions options) {
      this.method = method;
      this.options = options;
    }

    @Override
    public void start(Listener<R> responses, Metadata requestHeaders) {
      listener = responses;
      headers = requestHeaders;
    }

    @Override
    public void request(int count) {
      final ClientCall<Q, R> started;
      synchronized (this) {
        requested += count;
        started = current;
      }
      if (started != null) {
        started.request(count);
      }
    }

    @Override
    public void sendMessage(Q request) {
      message = request;
    }

    @Override
    public void halfClose() {
      go();
    }

    @Override
    public void cancel(String reason, Throwable cause) {
      final ClientCall<Q, R> started;
      synchronized (this) {
        if (cancelled != null) {
          return;
        }
        cancelled = Status.CANCELLED.withDescription(reason).withCause(cause);
        started = current;
      }
      if (started != null) {
        started.cancel(reason, cause);
      } else if (message == null) { // else the next attempt, or the one that starts, sees it
        final Status status = cancelled;
        execute(() -> listener.onClose(status, new Metadata()));
      }
    }

    /** Makes an attempt. An exception ends the call, on any thread. */
    private void go() {
      final Status ended;
      synchronized (this) {
        ended = cancelled;
      }
      if (ended != null) {
        execute(() -> listener.onClose(ended, new Metadata()));
        return;
      }
      final String index = index(message);
      final String meant = options.getOption(NodeAddress.KEY);
      final String address = meant == null ? nodes.addressOf(index) : meant;
      Attempt<R> attempt = null;
      try {
        final ClientCall<Q, R> next =
            nodes.channel(address).newCall(method, options.withoutWaitForReady());
        attempt = new Attempt<>(this, next, index, address);
        if (IndexGrpc.SERVICE_NAME.equals(method.getServiceName())) { // a creation may take long
          silent.began(attempt);
        }
        go(attempt, next);
      } catch (RuntimeException | Error e) {
        if (attempt == null || attempt.fail()) {
          nodes.lost(index, address);
          final Status status =
              Status.UNAVAILABLE
                  .withDescription("no call can be made to this address: " + address)
                  .withCause(e);
          execute(() -> listener.onClose(status, new Metadata()));
        } // else it has ended before: it was cancelled, or closed within its start
      }
    }

    private void go(Attempt<R> attempt, ClientCall<Q, R> next) {
      final Metadata copy = new Metadata();
      copy.merge(headers);
      next.start(attempt.listener(), copy);
      final int count;
      final Status late;
      synchronized (this) {
        if (!attempt.isOpen()) { // another one may have taken its place
          return;
        }
        current = next; // not before: a call that was not started takes nothing
        count = requested;
        late = cancelled;
      }
      if (late != null) {
        next.cancel(late.getDescription(), late.getCause());
        return;
      }
      next.request(count);
      next.sendMessage(message);
      next.halfClose();
    }

    /** Runs a task on the executor that a channel would use: a caller may wait for tasks there. */
    private void execute(Runnable task) {
      final Executor executor = options.getExecutor();
      if (executor == null) {
        threads.run(task);
      } else {
        executor.execute(task);
      }
    }

    /** Ends an attempt; makes another one, or ends the call. */
    private void closed(Attempt<R> attempt, Status status, Metadata trailers) {
      final String leader = trailers.get(Trailers.LEADER);
      final boolean isForLeader = options.getOption(NodeAddress.KEY) == null;
      if (leader != null && !attempt.isAnswered() && isForLeader) {
        refused(attempt, leader, trailers.get(Trailers.NODES));
        return;
      }
      final boolean isLate = status.getCode() == Status.Code.DEADLINE_EXCEEDED;
      final boolean isLost = Failures.isLost(status);
      if (isLost || isLate) {
        nodes.lost(attempt.index, attempt.address);
      }
      if (isLost && !attempt.isAnswered() && waits()) {
        hurries = !hurries && (lost.isEmpty() || lost.contains(attempt.address)); // to the next
        if (!trailers.containsKey(Trailers.NODES)) { // else it lives
          lost.add(attempt.address);
        }
        again(hurries ? 0 : nextPauseNs());
        return;
      }
      final boolean isWithoutLeader =
          isLate ? lost.contains(named) : isLost && !alive.contains(attempt.address);
      listener.onClose(
          isWithoutLeader && isForLeader && !attempt.isAnswered() && !alive.isEmpty()
              ? withoutLeader(attempt.index)
              : Failures.clear(status),
          trailers);
    }

    /** The status of a call that no leader has accepted, with the answers of the nodes. */
    private Status withoutLeader(String index) {
      return Status.UNAVAILABLE.withDescription(
          "no node leads the index now: index="
              + index
              + ", "
              + alive.size()
              + " of "
              + nodes.addresses().size()
              + " nodes answer, the leader named last is "
              + named);
    }

    /**
     * Makes the next attempt at the leader that a node has named: after a pause if that node named
     * itself, and at the next node if the named leader was lost.
     */
    private void refused(Attempt<R> attempt, String leader, String living) {
      refusals++;
      alive.add(attempt.address);
      lost.remove(attempt.address);
      named = leader;
      final boolean isLost = lost.contains(leader); // which the node has not noticed yet
      if (isLost) {
        nodes.lost(attempt.index, attempt.address);
      } else {
        nodes.lead(attempt.index, leader);
      }
      nodes.learn(living);
      if (refusals > MOST_REFUSALS && !waits()) {
        nodes.forgetLeader(attempt.index);
        listener.onClose(withoutLeader(attempt.index), new Metadata());
        return;
      }
      final boolean isElsewhere = !isLost && !leader.equals(attempt.address);
      again(refusals <= 2 && isElsewhere ? 0 : nextPauseNs());
    }

    /** Whether the call is made again after the loss of a node. */
    private boolean waits() {
      return options.isWaitForReady()
          && !nodes.isClosed()
          && options.getDeadline() != null
          && options.getDeadline().timeRemaining(TimeUnit.NANOSECONDS) > PAUSE_MIN_NS;
    }

    /**
     * The next pause: a part of the time since the call began, randomised by a half, and short
     * enough for another attempt before the deadline.
     */
    private long nextPauseNs() {
      final long partNs = (System.nanoTime() - beginNs) / PAUSE_PART;
      final long pauseNs = Math.max(PAUSE_MIN_NS, Math.min(PAUSE_MAX_NS, partNs));
      final long drawnNs = pauseNs / 2 + ThreadLocalRandom.current().nextLong(pauseNs);
      return options.getDeadline() == null
          ? drawnNs
          : Math.max(
              0, Math.min(drawnNs, options.getDeadline().timeRemaining(TimeUnit.NANOSECONDS) / 2));
    }

    private void again(long pauseNs) {
      synchronized (this) {
        current = null;
      }
      if (pauseNs == 0) {
        go();
      } else {
        threads.after(pauseNs, this::go);
      }
    }
  }

  /** One attempt of a call at a node: receives its answer, and reports its end to the call. */
  private final class Attempt<R> extends SilentLeaders.Attempt {
    private final RoutedCall<?, R> call;
    private final ClientCall<?, R> sent;
    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.OPEN);

    Attempt(RoutedCall<?, R> call, ClientCall<?, R> sent, String index, String address) {
      super(index, address);
      this.call = call;
      this.sent = sent;
    }

    boolean isOpen() {
      return stage.get() == Stage.OPEN || isAnswered();
    }

    /** Ends an attempt that could not be made; false if it has ended already. */
    boolean fail() {
      silent.ended(this);
      return stage.compareAndSet(Stage.OPEN, Stage.CLOSED);
    }

    boolean isAnswered() {
      return stage.get() == Stage.ANSWERED;
    }

    @Override
    void supersede(String leader) {
      if (!stage.compareAndSet(Stage.OPEN, Stage.SUPERSEDED)) {
        return;
      }
      silent.ended(this);
      nodes.lead(index, leader);
      sent.cancel("another node leads", null);
      final Status status =
          Status.UNAVAILABLE.withDescription(
              "the node does not answer, and another one leads: node=" + address);
      call.execute(() -> call.closed(this, status, new Metadata()));
    }

    ClientCall.Listener<R> listener() {
      return new ClientCall.Listener<>() {
        @Override
        public void onHeaders(Metadata headers) {
          if (stage.get() != Stage.SUPERSEDED) {
            call.listener.onHeaders(headers);
          }
        }

        @Override
        public void onMessage(R message) {
          if (stage.compareAndSet(Stage.OPEN, Stage.ANSWERED)) {
            silent.ended(Attempt.this);
          }
          if (isAnswered()) {
            call.listener.onMessage(message);
          }
        }

        @Override
        public void onReady() {
          if (stage.get() != Stage.SUPERSEDED) {
            call.listener.onReady();
          }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
          silent.ended(Attempt.this);
          if (stage.get() != Stage.SUPERSEDED
              && (isAnswered() || stage.compareAndSet(Stage.OPEN, Stage.CLOSED))) {
            call.closed(Attempt.this, status, trailers);
          }
        }
      };
    }
  }

  /** The stage of an attempt. */
  private enum Stage {
    /** The attempt waits for an answer. */
    OPEN,
    /** A message has come. */
    ANSWERED,
    /** The attempt has ended without a message. */
    CLOSED,
    /** The call is made at another node; later events of this attempt are dropped. */
    SUPERSEDED
  }
}
