package dev.ringfetch.index.direct;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.DirectAccessGrpc.DirectAccessFutureStub;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.ReleaseRequest;
import io.grpc.Channel;
import io.grpc.Status;
import java.security.SecureRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The requests for a grant: at most one is under way, and after a refusal the next one waits, twice
 * as long each time. Used by one thread at a time; nothing but {@link #await} blocks.
 *
 * <p>Each request names the token of its grant. So a grant whose answer did not come in time, or
 * came to a reader that was closed, is released all the same.
 */
final class GrantRequests {
  static final long FIRST_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(10);
  static final long LAST_DELAY_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int TOKEN_LENGTH = 16;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final DirectAccessFutureStub stub;
  private final long timeoutNs;
  private final LongSupplier clock;
  private ListenableFuture<GrantResponse> answer; // null: none is under way
  private ByteString token; // of the grant that was asked for last
  private String index = ""; // of it
  private long nextNs;
  private long delayNs = FIRST_DELAY_NS;
  private long refusals;
  private String obstacle = "no grant was asked for yet";

  /**
   * Creates it; asks for nothing yet.
   *
   * @param timeoutNs of a request.
   * @param clock in nanoseconds.
   */
  GrantRequests(Channel channel, long timeoutNs, LongSupplier clock) {
    this.stub = DirectAccessGrpc.newFutureStub(channel);
    this.timeoutNs = timeoutNs;
    this.clock = clock;
    this.nextNs = clock.getAsLong();
  }

  /**
   * Returns a grant if one has come since the last call, or null; asks for one when it is time.
   *
   * @param request makes what to ask for; not called unless it is time.
   */
  GrantResponse poll(Supplier<GrantRequest> request) {
    if (answer == null) {
      if (clock.getAsLong() - nextNs < 0) {
        return null;
      }
      token = newToken();
      final GrantRequest asked = request.get().toBuilder().setToken(token).build();
      index = asked.getIndex();
      answer = stub.withDeadlineAfter(timeoutNs, TimeUnit.NANOSECONDS).grant(asked);
    }
    return answer.isDone() ? await(0) : null;
  }

  /** Waits for the answer of the request that is under way. Returns null if it is no grant. */
  GrantResponse await(long waitNs) {
    if (answer == null) {
      return null;
    }
    GrantResponse grant = null;
    try {
      grant = answer.get(waitNs, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      return null; // it stays under way
    } catch (ExecutionException e) {
      final Status status = Status.fromThrowable(e.getCause());
      if (mayHaveBeenGranted(status)) {
        release(token);
      }
      refused(status.getCode() + ": " + status.getDescription());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
    answer = null;
    return grant;
  }

  /** Whether the server may have granted the request, and its answer was lost. */
  private static boolean mayHaveBeenGranted(Status status) {
    return status.getCode() == Status.Code.DEADLINE_EXCEEDED
        || status.getCode() == Status.Code.CANCELLED;
  }

  /** Draws the token of a grant. */
  static ByteString newToken() {
    final byte[] bytes = new byte[TOKEN_LENGTH];
    RANDOM.nextBytes(bytes);
    return ByteString.copyFrom(bytes);
  }

  /** Called when a grant could not be used, or was none: the next request waits. */
  void refused(String obstacle) {
    this.obstacle = obstacle;
    refusals++;
    nextNs = clock.getAsLong() + delayNs;
    delayNs = Math.min(2 * delayNs, LAST_DELAY_NS);
  }

  /** Called when there is a grant: the next request waits for the first delay. */
  void served() {
    nextNs = clock.getAsLong() + FIRST_DELAY_NS;
  }

  /** Called when a grant that has served reads has ended: the next request goes out at once. */
  void ended(String obstacle) {
    this.obstacle = obstacle;
    delayNs = FIRST_DELAY_NS;
    nextNs = clock.getAsLong();
  }

  /** Requests that have been refused, or led to no grant that could be used. */
  long refusals() {
    return refusals;
  }

  /** Tells the server that a grant is not used any more, and does not wait for its answer. */
  void release(ByteString token) {
    release(token, null);
  }

  /**
   * As above.
   *
   * @param address of the node that has granted it; null: that is not known, or there is one server
   */
  void release(ByteString token, String address) {
    if (!token.isEmpty()) {
      final var unused =
          (address == null ? stub : stub.withOption(NodeAddress.KEY, address))
              .withDeadlineAfter(timeoutNs, TimeUnit.NANOSECONDS)
              .release(ReleaseRequest.newBuilder().setToken(token).setIndex(index).build());
    }
  }

  /** Why the last request led to no reads. */
  String obstacle() {
    return obstacle;
  }

  /** Cancels the request that is under way, and releases what it was granted meanwhile. */
  void close() {
    if (answer != null) {
      answer.cancel(true);
      answer = null;
      release(token);
    }
  }
}
