package dev.ringfetch.index.peers;

import dev.ringfetch.index.v1.Introduction;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.ReplicationGrpc;
import dev.ringfetch.rpc.MalformedRequests;
import io.grpc.BindableService;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The service through which leaders reach a node. Only the newest stream of a leader counts; a
 * stream for another process is refused.
 *
 * <p>Safe for use by many threads. It refuses callers that are neither announced in the coordinator
 * as a node nor members of a group. If callers have to prove themselves, it also refuses those
 * without the {@linkplain NodeCertificate certificate} of the announced node. Otherwise any process
 * that reaches this service and knows a node's numbers can act as that node: use the network to
 * keep other processes from it.
 */
final class ReplicationService implements BindableService, ReplicationGrpc.AsyncService {
  private static final Logger LOGGER = System.getLogger(ReplicationService.class.getName());

  /**
   * Limit of the messages to a node, which it reports to its leaders. A message has up to 64 KiB of
   * records, or a single longer record with a key of 1 KiB and a value of 1 MiB at most.
   */
  static final int MESSAGE_LIMIT = 2 << 20;

  private final Node self;
  private final PeerListener listener;
  private final PeerProcesses processes;
  private final Map<Long, Stream> leaders = new ConcurrentHashMap<>();

  /** The lock of each leader's streams, by the leader's id. */
  private final Map<Long, Object> turns = new ConcurrentHashMap<>();

  private volatile boolean requiresProof;

  ReplicationService(Node self, PeerListener listener, PeerProcesses processes) {
    this.self = self;
    this.listener = listener;
    this.processes = processes;
  }

  /** Requires certificates from now on. */
  void requireProof() {
    requiresProof = true;
  }

  @Override
  public ServerServiceDefinition bindService() {
    return ServerInterceptors.intercept(
        MalformedRequests.refusedBy(ReplicationGrpc.bindService(this)),
        new NodeCertificate.Interceptor(),
        new StreamThreads()); // the outermost
  }

  @Override
  public StreamObserver<LeaderMessage> replicate(StreamObserver<MemberMessage> answers) {
    return new Stream(answers, NodeCertificate.session());
  }

  /** Answers a leader; drops the answer if there is no stream. */
  void answer(long leader, MemberMessage message) {
    final Stream stream = leaders.get(leader);
    if (stream != null) {
      stream.answer(message);
    }
  }

  /** Ends the stream of a leader whose process has ended. */
  void end(Node leader) {
    final Stream stream = leaders.get(leader.getId());
    if (stream != null && stream.incarnation == leader.getIncarnation()) {
      stream.end(Status.UNAVAILABLE.withDescription("the leader's process has ended"));
    }
  }

  /** Ends all streams. */
  void close() {
    leaders
        .values()
        .forEach(stream -> stream.end(Status.UNAVAILABLE.withDescription("the node ends")));
  }

  /** The stream of a leader. */
  private final class Stream implements StreamObserver<LeaderMessage> {
    private final StreamObserver<MemberMessage> answers;
    private long leader; // 0 before it has introduced itself
    private volatile long incarnation; // of the leader
    private final @Nullable SSLSession session; // null: plaintext

    Stream(StreamObserver<MemberMessage> answers, @Nullable SSLSession session) {
      this.answers = answers;
      this.session = session;
    }

    @Override
    public void onNext(LeaderMessage message) {
      try {
        take(message);
      } catch (RuntimeException | Error e) {
        LOGGER.log(Level.ERROR, "a leader's message has failed", e);
        end(Status.INTERNAL.withDescription("the message has failed").withCause(e));
      }
    }

    private void take(LeaderMessage message) {
      if (leader != 0) {
        final Runnable then;
        // Together with the check: no message of this stream may come after one of the next stream.
        synchronized (turns.computeIfAbsent(leader, unknown -> new Object())) {
          then = leaders.get(leader) == this ? listener.onMessage(leader, message) : null;
        }
        if (then != null) {
          then.run();
        }
        return;
      }
      final Introduction introduction = message.getIntroduction();
      if (introduction.getNode() != self.getId()
          || introduction.getIncarnation() != self.getIncarnation()
          || introduction.getLeader().getId() == 0) {
        end(
            GrpcPeers.refused(
                "not for this process: node="
                    + Long.toUnsignedString(self.getId())
                    + " incarnation="
                    + Long.toUnsignedString(self.getIncarnation())));
        return;
      }
      if (!listener.isNode(introduction.getLeader())) {
        end(
            GrpcPeers.refused(
                "the caller is no node that the coordinator knows: node="
                    + Long.toUnsignedString(introduction.getLeader().getId())));
        return;
      }
      if (requiresProof && !isProved(introduction.getLeader())) {
        end(
            Status.PERMISSION_DENIED.withDescription(
                "the caller's certificate is not for the address of the node that it says it is"));
        return;
      }
      leader = introduction.getLeader().getId();
      incarnation = introduction.getLeader().getIncarnation();
      processes.watch(introduction.getLeader());
      final Stream older;
      synchronized (turns.computeIfAbsent(leader, unknown -> new Object())) {
        older = leaders.put(leader, this);
      }
      if (older != null) {
        if (older.incarnation != incarnation) { // that process has ended
          listener.onLeaderGone(leader);
        }
        older.end(Status.ABORTED.withDescription("a newer stream took its place"));
      }
      answer(
          MemberMessage.newBuilder().setIntroduction(self).setMessageLimit(MESSAGE_LIMIT).build());
    }

    /** A node that is not announced now can prove nothing: it is announced again in a moment. */
    private boolean isProved(Node caller) {
      final Node announced = listener.announced(caller.getId());
      return announced != null
          && announced.getIncarnation() == caller.getIncarnation()
          && NodeCertificate.isOf(session, announced.getAddress());
    }

    /** Sends an answer; called by replicas of several groups. */
    synchronized void answer(MemberMessage message) {
      try {
        answers.onNext(message);
      } catch (StatusRuntimeException | IllegalStateException e) {
        // The stream has ended, and its leader knows.
      }
    }

    @Override
    public void onError(Throwable failure) {
      left();
    }

    @Override
    public void onCompleted() {
      left();
      synchronized (this) {
        try {
          answers.onCompleted();
        } catch (IllegalStateException e) {
          // This side has ended it.
        }
      }
    }

    private void left() {
      if (leader != 0 && leaders.remove(leader, this)) {
        listener.onLeaderGone(leader);
      }
    }

    private void end(Status status) {
      left();
      synchronized (this) {
        GrpcPeers.end(answers, status);
      }
    }
  }
}
