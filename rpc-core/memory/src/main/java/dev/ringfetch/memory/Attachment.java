package dev.ringfetch.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.memory.v1.AttachRequest;
import dev.ringfetch.memory.v1.AttachResponse;
import dev.ringfetch.memory.v1.FabricHint;
import dev.ringfetch.memory.v1.SharedMemoryGrpc;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The attachment of a client to the owner's memory: asks for it, connects to the domain, and leaves
 * it when the stream that stands for it ends. After a refusal or an end the next request waits,
 * twice as long each time.
 *
 * <p>Safe for use by many threads.
 */
final class Attachment implements AutoCloseable {
  private static final long FIRST_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(10);

  /** The longest delay after a refusal. */
  private static final long LAST_DELAY_NS = TimeUnit.SECONDS.toNanos(10);

  /** The longest delay while there is no owner: another one may begin at any time. */
  private static final long LAST_ABSENT_DELAY_NS = TimeUnit.SECONDS.toNanos(1);

  private static final int TOKEN_LENGTH = 16;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Channel channel;
  private final OpenFabrics fabrics;
  private final long timeoutNs;

  /** The domain, while attached. Changed with the monitor held. */
  private volatile @Nullable AttachedDomain domain;

  @GuardedBy("this")
  private @Nullable Attempt attempt; // null if none is under way

  @GuardedBy("this")
  private long nextNs = System.nanoTime();

  @GuardedBy("this")
  private long delayNs = FIRST_DELAY_NS;

  @GuardedBy("this")
  private String obstacle = "not asked for yet";

  @GuardedBy("this")
  private boolean isRefused; // by the owner's last answer

  @GuardedBy("this")
  private boolean closed;

  Attachment(Channel channel, OpenFabrics fabrics, long timeoutNs) {
    this.channel = channel;
    this.fabrics = fabrics;
    this.timeoutNs = timeoutNs;
  }

  /**
   * The owner's memory; null while reads go by calls. Never waits for the owner's answer; connects
   * when that has come.
   */
  @Nullable AttachedDomain domain() {
    final AttachedDomain attached = domain;
    if (attached != null) {
      if (attached.isOpen()) {
        return attached;
      }
      remove(attached);
    }
    final Attempt next = advance();
    if (next == null || next.response != null) {
      return next == null ? null : connect(next);
    }
    begin(next);
    return null;
  }

  private void remove(AttachedDomain ended) {
    final Attempt left;
    synchronized (this) {
      if (domain != ended) {
        return;
      }
      domain = null;
      left = attempt;
      if (left != null) { // its stream has not ended, but the admission has
        leave("the owner has ended the admission", false);
      }
    }
    cancel(left);
    ended.close();
  }

  /**
   * Returns the attempt that the caller has to begin, or to connect with; null if there is none.
   */
  private synchronized @Nullable Attempt advance() {
    if (!isPossible()) {
      return null;
    }
    if (attempt == null) {
      if (System.nanoTime() - nextNs >= 0) {
        attempt = new Attempt();
        return attempt;
      }
    } else if (attempt.response != null && !attempt.isConnected) {
      attempt.isConnected = true;
      return attempt;
    }
    return null;
  }

  /**
   * Begins an attempt; one that cannot begin ends as one that fails. As all calls into gRPC,
   * without the monitor: they may take locks with which gRPC calls back.
   */
  private void begin(Attempt begun) {
    String failure = "an error"; // which the caller gets
    try {
      begun.start();
      failure = null;
    } catch (RuntimeException e) { // of the channel, its interceptors, or a fabric
      failure = e.toString();
    } finally {
      if (failure != null) {
        begun.ended("cannot attach: " + failure, false);
      }
      if (isLeft(begun)) { // it failed, or this was closed meanwhile
        cancel(begun);
      }
    }
  }

  private synchronized boolean isLeft(Attempt begun) {
    return attempt != begun;
  }

  private static void cancel(@Nullable Attempt left) {
    if (left != null && left.call != null) {
      left.call.cancel("left", null);
    }
  }

  /** Connects, without the monitor: that may take round trips, and callbacks need it. */
  private @Nullable AttachedDomain connect(Attempt answered) {
    RemoteDomain connected = null;
    AttachedDomain attached = null;
    String failure = "an error"; // which the caller gets
    try {
      final AttachResponse response = answered.response;
      connected =
          fabric(response.getFabric())
              .connectDomain(
                  response.getDomain().toByteArray(), answered.token.toByteArray(), timeoutNs);
      attached = attached(answered, new AttachedDomain(connected, answered.token, timeoutNs));
    } catch (IOException | RuntimeException e) { // RuntimeException: a bad descriptor
      failure = String.valueOf(e.getMessage());
    } finally {
      if (attached == null) {
        answered.ended(failure, true);
        cancel(answered);
        if (connected != null) {
          connected.close();
        }
      }
    }
    return attached;
  }

  /** Returns the domain, which is used from now on; null if the stream has ended meanwhile. */
  private synchronized @Nullable AttachedDomain attached(
      Attempt answered, AttachedDomain connected) {
    if (attempt != answered) {
      return null;
    }
    domain = connected;
    delayNs = FIRST_DELAY_NS;
    notifyAll();
    return connected;
  }

  private Fabric fabric(String name) throws IOException {
    for (final Fabric fabric : fabrics.fabrics()) {
      if (fabric.name().equals(name)) {
        return fabric;
      }
    }
    throw new IOException("not offered: fabric=" + name);
  }

  /** Notes the end of the attempt; the next one waits. A domain is closed when it is used next. */
  @GuardedBy("this")
  private void leave(String reason, boolean refused) {
    attempt = null;
    if (domain != null) {
      domain.end();
    }
    obstacle = reason;
    isRefused = refused;
    nextNs = System.nanoTime() + delayNs;
    delayNs = Math.min(2 * delayNs, refused ? LAST_DELAY_NS : LAST_ABSENT_DELAY_NS);
    notifyAll();
  }

  /**
   * Waits until the client is attached, the owner has refused it, or a time has come.
   *
   * @return true if it is attached.
   */
  boolean await(long endNs) {
    while (domain() == null) {
      synchronized (this) {
        final long nowNs = System.nanoTime();
        if (!isPossible() || (attempt == null && isRefused) || endNs - nowNs <= 0) {
          return false;
        }
        final boolean isAnswered = attempt != null && attempt.response != null;
        if (isAnswered && !attempt.isConnected) {
          continue;
        }
        final long leftNs =
            Math.min(endNs - nowNs, attempt == null ? nextNs - nowNs : Long.MAX_VALUE);
        try {
          TimeUnit.NANOSECONDS.timedWait(this, Math.max(leftNs, 1));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return false;
        }
      }
    }
    return true;
  }

  @GuardedBy("this")
  private boolean isPossible() {
    return !closed && !fabrics.fabrics().isEmpty();
  }

  /** The reason why reads go by calls; null while attached. */
  synchronized @Nullable String obstacle() {
    if (domain != null && domain.isOpen()) {
      return null;
    }
    return fabrics.fabrics().isEmpty() ? fabrics.obstacle() : obstacle;
  }

  @Override
  public void close() {
    final AttachedDomain attached;
    final Attempt left;
    synchronized (this) {
      closed = true;
      attached = domain;
      left = attempt;
      leave("closed", true);
    }
    cancel(left);
    if (attached != null) {
      attached.close();
    }
    fabrics.fabrics().forEach(Fabric::close); // a domain that is being connected, too
  }

  /** One stream: its answer is the admission, and its end the end of the attachment. */
  private final class Attempt implements ClientResponseObserver<AttachRequest, AttachResponse> {
    private final ByteString token;
    private volatile @Nullable ClientCallStreamObserver<AttachRequest>
        call; // null before it begins
    private @Nullable AttachResponse response; // set with the attachment's monitor held
    private boolean isConnected;

    Attempt() {
      final byte[] bytes = new byte[TOKEN_LENGTH];
      RANDOM.nextBytes(bytes);
      token = ByteString.copyFrom(bytes);
    }

    void start() {
      final AttachRequest.Builder request = AttachRequest.newBuilder().setToken(token);
      for (final Fabric fabric : fabrics.fabrics()) {
        request.addFabrics(
            FabricHint.newBuilder()
                .setFabric(fabric.name())
                .setHint(ByteString.copyFrom(fabric.hint())));
      }
      // The attachment is of no call that may be under way in this thread, and outlives it.
      Context.ROOT.run(() -> SharedMemoryGrpc.newStub(channel).attach(request.build(), this));
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<AttachRequest> started) {
      call = started;
    }

    @Override
    public void onNext(AttachResponse answer) {
      synchronized (Attachment.this) {
        if (response == null) {
          response = answer;
          Attachment.this.notifyAll();
        }
      }
    }

    @Override
    public void onError(Throwable t) {
      final Status status = Status.fromThrowable(t);
      ended(status.getCode() + ": " + status.getDescription(), isAnswer(status.getCode()));
    }

    @Override
    public void onCompleted() {
      ended("the owner has ended the attachment", true);
    }

    /** Whether the owner has answered; gRPC's netty says UNKNOWN of a connection's end, too. */
    private boolean isAnswer(Status.Code code) {
      return code != Status.Code.UNAVAILABLE && code != Status.Code.UNKNOWN;
    }

    private void ended(String reason, boolean refused) {
      synchronized (Attachment.this) {
        if (attempt == this) {
          leave(reason, refused);
        }
      }
    }
  }
}
