package dev.ringfetch.index.peers;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.index.v1.Introduction;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.ReplicationGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * One stream of a leader to a node, from its start to its end. It is connected once the node has
 * identified itself as the intended process.
 *
 * <p>Safe for use by many threads. The lock is held only while a message is passed to the stream,
 * which does not wait.
 */
final class LeaderConnection implements ClientResponseObserver<LeaderMessage, MemberMessage> {
  private static final Logger LOGGER = System.getLogger(LeaderConnection.class.getName());

  /** Limit of the bytes that wait in the stream. */
  static final long WAITING_LIMIT = 16 << 20;

  private enum State {
    STARTED,
    CONNECTED,
    ENDED
  }

  private final Node peer;
  private final PeerListener listener;
  private final Consumer<Status> ended;
  private final ReentrantLock lock = new ReentrantLock();
  private ClientCallStreamObserver<LeaderMessage> stream;
  private volatile State state = State.STARTED;

  @GuardedBy("lock")
  private int messageLimit = Integer.MAX_VALUE; // until the peer says its own

  @GuardedBy("lock")
  private boolean hasComplained;

  @GuardedBy("lock")
  private long waiting; // bytes since the stream took all

  /**
   * Time since when an answer is due, by a monotonic clock; 0 if nothing was sent since the last
   * one.
   */
  private final AtomicLong dueSinceNs = new AtomicLong();

  /**
   * Creates it; {@link #start} begins the stream.
   *
   * @param ended is called once, with the reason
   */
  LeaderConnection(Node peer, PeerListener listener, Consumer<Status> ended) {
    this.peer = peer;
    this.listener = listener;
    this.ended = ended;
  }

  /** Begins the stream. */
  void start(ManagedChannel channel, Node self) {
    ReplicationGrpc.newStub(channel).replicate(this);
    send(
        LeaderMessage.newBuilder()
            .setIntroduction(
                Introduction.newBuilder()
                    .setLeader(self)
                    .setNode(peer.getId())
                    .setIncarnation(peer.getIncarnation()))
            .build());
  }

  Node peer() {
    return peer;
  }

  boolean isConnected() {
    return state == State.CONNECTED;
  }

  /**
   * Sends a message; false if the stream has ended, too many bytes wait, or the message exceeds the
   * node's limit: it would end the stream for all groups.
   */
  boolean send(LeaderMessage message) {
    final int length = message.getSerializedSize();
    lock.lock();
    try {
      if (state == State.ENDED || !isTaken(message, length)) {
        return false;
      }
      if (stream.isReady()) {
        waiting = 0;
      } else {
        if (waiting > 0 && waiting + length > WAITING_LIMIT) {
          return false;
        }
        waiting += length;
      }
      if (dueSinceNs.get() == 0) {
        dueSinceNs.set(System.nanoTime() | 1);
      }
      stream.onNext(message);
      return true;
    } catch (IllegalStateException e) { // the stream is ending; onError reports it
      return false;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean isTaken(LeaderMessage message, int length) {
    if (length > messageLimit && !hasComplained) {
      hasComplained = true;
      LOGGER.log(
          Level.ERROR,
          "a message is longer than the node takes: node={0} group={1} kind={2} length={3}"
              + " limit={4}",
          peer.getAddress(),
          message.getGroup(),
          message.getKindCase(),
          length,
          messageLimit);
    }
    return length <= messageLimit;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<LeaderMessage> requests) {
    stream = requests;
  }

  /**
   * Whether the node has not answered for long, although it answers each message.
   *
   * @param limitNs the time after which the node is tried over another stream
   */
  boolean isSilent(long nowNs, long limitNs) {
    final long sinceNs = dueSinceNs.get();
    return sinceNs != 0 && state != State.ENDED && nowNs - sinceNs > limitNs;
  }

  /** Ignores a pause of this process when it judges whether the node is silent. */
  void excuse(long nowNs) {
    final long sinceNs = dueSinceNs.get();
    if (sinceNs != 0) {
      dueSinceNs.compareAndSet(sinceNs, nowNs | 1); // only if no answer has just come
    }
  }

  @Override
  public void onNext(MemberMessage answer) {
    dueSinceNs.set(0);
    if (state == State.CONNECTED) {
      listener.onAnswer(peer.getId(), answer);
    } else if (answer.getIntroduction().getIncarnation() == peer.getIncarnation()) {
      lock.lock();
      try {
        if (state != State.STARTED) {
          return;
        }
        state = State.CONNECTED;
        messageLimit = answer.getMessageLimit();
      } finally {
        lock.unlock();
      }
      listener.onConnected(peer.getId());
    } else {
      close("another process has this address");
    }
  }

  @Override
  public void onError(Throwable failure) {
    end(Status.fromThrowable(failure));
  }

  @Override
  public void onCompleted() {
    end(Status.OK);
  }

  private void end(Status reason) {
    lock.lock();
    try {
      if (state == State.ENDED) {
        return;
      }
      state = State.ENDED;
    } finally {
      lock.unlock();
    }
    listener.onDisconnected(peer.getId());
    ended.accept(reason);
  }

  /** Ends the stream. Idempotent. */
  void close(String reason) {
    lock.lock();
    try {
      if (state != State.ENDED) {
        stream.cancel(reason, null);
      }
    } finally {
      lock.unlock();
    }
    end(Status.CANCELLED.withDescription(reason));
  }
}
