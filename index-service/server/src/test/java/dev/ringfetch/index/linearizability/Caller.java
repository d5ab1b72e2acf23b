package dev.ringfetch.index.linearizability;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.nio.channels.ClosedChannelException;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Makes calls in all the ways in which a client may: waiting in the call or beside it, and now and
 * then with a deadline that is too short, or cancelled. Only these may fail, and only as they must;
 * where servers are killed, others may, too, as the loss of a connection has it.
 *
 * <p>Used by one thread at a time.
 */
final class Caller {
  private static final long DEADLINE_S = 60;

  /** Of so many calls, one has a short deadline, one is cancelled, some wait beside the call. */
  private static final int MANNERS = 100;

  private static final int FUTURES = 30;

  /** About as long as a call takes, so that it ends now before and now after the handler. */
  private static final int SHORT_NS = 400_000;

  private final Random random;
  private final boolean kills;
  private long invokedNs;
  private long answeredNs;
  private boolean unavailable;

  /**
   * Creates a caller.
   *
   * @param kills whether servers are killed under calls
   */
  Caller(Random random, boolean kills) {
    this.random = random;
    this.kills = kills;
  }

  /**
   * Returns the response; null if the call has ended without one, and may have been carried out.
   */
  <Q, R> R call(Route route, MethodDescriptor<Q, R> method, Q request) throws Exception {
    unavailable = false;
    invokedNs = System.nanoTime();
    R response = null;
    try {
      response = draw(route, method, request);
    } catch (StatusRuntimeException e) {
      checkUnavailable(e);
    }
    answeredNs = System.nanoTime();
    return response;
  }

  /** Makes a read; null if it has found no server. */
  Boolean time(BooleanSupplier read) {
    unavailable = false;
    invokedNs = System.nanoTime();
    Boolean result = null;
    try {
      result = read.getAsBoolean();
    } catch (StatusRuntimeException e) {
      checkUnavailable(e);
    }
    answeredNs = System.nanoTime();
    return result;
  }

  private void checkUnavailable(StatusRuntimeException e) {
    final Status.Code code = e.getStatus().getCode();
    // The latter of netty, where a connection ends while a call begins on it.
    final boolean lost =
        code == Status.Code.UNAVAILABLE
            || (code == Status.Code.UNKNOWN && e.getCause() instanceof ClosedChannelException);
    if (!kills || !lost) {
      throw e;
    }
    unavailable = true;
  }

  /** Whether the last call has found no server, or has lost it. */
  boolean wasUnavailable() {
    return unavailable;
  }

  /** When the last call began. */
  long invokedNs() {
    return invokedNs;
  }

  /** When the last call had ended. */
  long answeredNs() {
    return answeredNs;
  }

  private <Q, R> R draw(Route route, MethodDescriptor<Q, R> method, Q request) throws Exception {
    final int manner = random.nextInt(MANNERS);
    if (manner == 0) {
      return hurried(route, method, request);
    }
    final CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(DEADLINE_S, TimeUnit.SECONDS);
    if (manner > FUTURES) {
      return ClientCalls.blockingUnaryCall(route.channel(), method, options, request);
    }
    final Future<R> response =
        ClientCalls.futureUnaryCall(route.channel().newCall(method, options), request);
    if (manner == 1) {
      LockSupport.parkNanos(random.nextInt(SHORT_NS));
      if (response.cancel(true)) {
        return null;
      }
    }
    try {
      return response.get(2 * DEADLINE_S, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (kills && e.getCause() instanceof StatusRuntimeException failure) {
        throw failure;
      }
      throw new AssertionError(method.getBareMethodName() + " over " + route, e);
    }
  }

  private <Q, R> R hurried(Route route, MethodDescriptor<Q, R> method, Q request) {
    final CallOptions options =
        CallOptions.DEFAULT.withDeadlineAfter(random.nextInt(SHORT_NS), TimeUnit.NANOSECONDS);
    try {
      return ClientCalls.blockingUnaryCall(route.channel(), method, options, request);
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED) {
        return null;
      }
      throw e;
    }
  }
}
