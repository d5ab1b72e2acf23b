package dev.ringfetch.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
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
  private static final long LAST_DELAY_NS = TimeUnit.SECONDS.toNanos(10);
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
  private boolean closed;

  Attachment(Channel channel, OpenFabrics fabrics, long timeoutNs) {
    this.channel = channel;
    this.fabrics = fabrics;
    this.timeoutNs = timeoutNs;
  }

  /** The owner's memory; null while reads go by calls. Never waits for the owner's answer. */
  @Nullable AttachedDomain domain() {
    final AttachedDomain attached = domain;
    return attached != null && attached.isOpen() ? attached : advance();
  }

  private synchronized @Nullable AttachedDomain advance() {
    if (closed || fabrics.fabrics().isEmpty()) {
      return null;
    }
    if (domain != null) {
      if (domain.isOpen()) {
        return domain;
      }
      leave("the owner has ended the attachment");
    }
    if (attempt == null) {
      if (System.nanoTime() - nextNs >= 0) {
        attempt = new Attempt();
        attempt.start();
      }
    } else if (attempt.response != null && !attempt.isConnected) {
      connect(attempt);
    }
    return domain;
  }

  @GuardedBy("this")
  private void connect(Attempt answered) {
    final AttachResponse response = answered.response;
    answered.isConnected = true;
    try {
      domain =
          new AttachedDomain(
              fabric(response.getFabric())
                  .connectDomain(
                      response.getDomain().toByteArray(), answered.token.toByteArray(), timeoutNs),
              answered.token,
              timeoutNs);
      delayNs = FIRST_DELAY_NS;
    } catch (IOException | RuntimeException e) { // RuntimeException: a bad descriptor
      leave(String.valueOf(e.getMessage()));
    }
  }

  private Fabric fabric(String name) throws IOException {
    for (final Fabric fabric : fabrics.fabrics()) {
      if (fabric.name().equals(name)) {
        return fabric;
      }
    }
    throw new IOException("not offered: fabric=" + name);
  }

  /** Ends the attempt and its domain; the next one waits. */
  @GuardedBy("this")
  private void leave(String reason) {
    final Attempt left = attempt;
    attempt = null;
    if (left != null) {
      left.cancel();
    }
    if (domain != null) {
      domain.close();
      domain = null;
    }
    obstacle = reason;
    nextNs = System.nanoTime() + delayNs;
    delayNs = Math.min(2 * delayNs, LAST_DELAY_NS);
    notifyAll();
  }

  /** Waits for the owner's first answer, until a time at most. */
  void await(long endNs) {
    domain();
    synchronized (this) {
      long leftNs;
      while (attempt != null
          && attempt.response == null
          && (leftNs = endNs - System.nanoTime()) > 0) {
        try {
          TimeUnit.NANOSECONDS.timedWait(this, leftNs);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
    domain();
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
    synchronized (this) {
      leave("closed");
      closed = true;
    }
    fabrics.fabrics().forEach(Fabric::close);
  }

  /** One stream: its answer is the admission, and its end the end of the attachment. */
  private final class Attempt implements ClientResponseObserver<AttachRequest, AttachResponse> {
    private final ByteString token;
    private ClientCallStreamObserver<AttachRequest> call;
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

    void cancel() {
      call.cancel("left", null);
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
      ended(status.getCode() + ": " + status.getDescription());
    }

    @Override
    public void onCompleted() {
      ended("the owner has ended the attachment");
    }

    private void ended(String reason) {
      synchronized (Attachment.this) {
        if (attempt == this) {
          attempt = null;
          leave(reason);
        }
      }
    }
  }
}
