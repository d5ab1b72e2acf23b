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
 * The requests for a grant: at most one is under way; after a refusal the next one waits, twice as
 * long each time. Used by one thread at a time; nothing but {@link #await} blocks.
 *
 * <p>Each request names the token of its grant. So a grant can be released even if its answer came
 * too late, or to a closed reader.
 */
final class GrantRequests {
  static final long FIRST_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(10);
  static final long LAST_DELAY_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int TOKEN_LENGTH = 16;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final DirectAccessFutureStub stub;
  private final long timeoutNs;
  private final LongSupplier clock;
  private ListenableFuture<GrantResponse> answer; // null if none is under way
  private ByteString token; // of the last request
  private String index = ""; // of it
  private long nextNs;
  private long delayNs = FIRST_DELAY_NS;
  private long refusals;
  private String obstacle = "no grant was asked for yet";

  /**
   * Creates it; makes no request yet.
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
   * Returns a grant if one has come since the last call, or null; makes the next request when it is
   * due.
   *
   * @param request creates the request; called only when one is due.
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

  /** Waits for the answer to the request under way. Returns null if it is not a grant. */
  GrantResponse await(long waitNs) {
    if (answer == null) {
      return null;
    }
    GrantResponse grant = null;
    try {
      grant = answer.get(waitNs, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      return null; // the request stays under way
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

  /** Notes a refusal, or a grant that could not be used: the next request waits. */
  void refused(String obstacle) {
    this.obstacle = obstacle;
    refusals++;
    nextNs = clock.getAsLong() + delayNs;
    delayNs = Math.min(2 * delayNs, LAST_DELAY_NS);
  }

  /** Notes that a grant is used: the next request waits for the first delay. */
  void served() {
    nextNs = clock.getAsLong() + FIRST_DELAY_NS;
  }

  /** Notes the end of a grant that has served reads: the next request goes out at once. */
  void ended(String obstacle) {
    this.obstacle = obstacle;
    delayNs = FIRST_DELAY_NS;
    nextNs = clock.getAsLong();
  }

  /** Number of requests that were refused, or whose grant could not be used. */
  long refusals() {
    return refusals;
  }

  /** Releases a grant at the server, without waiting for the answer. */
  void release(ByteString token) {
    release(token, null);
  }

  /**
   * As above.
   *
   * @param address of the node that has granted it; null if unknown, or if there is a single server
   */
  void release(ByteString token, String address) {
    if (!token.isEmpty()) {
      final var unused =
          (address == null ? stub : stub.withOption(NodeAddress.KEY, address))
              .withDeadlineAfter(timeoutNs, TimeUnit.NANOSECONDS)
              .release(ReleaseRequest.newBuilder().setToken(token).setIndex(index).build());
    }
  }

  /** The reason why the last request led to no direct reads. */
  String obstacle() {
    return obstacle;
  }

  /**
   * Cancels the request under way, and releases its grant if the server has granted it meanwhile.
   */
  void close() {
    if (answer != null) {
      answer.cancel(true);
      answer = null;
      release(token);
    }
  }
}
