package dev.ringfetch.index.linearizability;

import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.RequestNumber;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.nio.channels.ClosedChannelException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Calls of one thread whose server is killed and followed by another: writes have numbers, and are
 * repeated until a server has answered. Used by one thread at a time.
 */
final class NumberedCalls {
  private static final long ATTEMPT_S = 60;
  private static final long WRITE_S = 180;
  private static final int PAUSE_NS = 30_000_000;

  private final KillGate gate;
  private final KillCounts counts;
  private final List<Route> routes;
  private final Random random;
  private final Map<String, Long> clients = new HashMap<>(); // by index
  private long client; // of the last write
  private long next = 1;
  private Route route;
  private long invokedNs;
  private long answeredNs;
  private int began;
  private int answered;
  private int attempts;

  NumberedCalls(KillGate gate, KillCounts counts, List<Route> routes, Random random) {
    this.gate = gate;
    this.counts = counts;
    this.routes = routes;
    this.random = random;
  }

  /** When the last call began. */
  long invokedNs() {
    return invokedNs;
  }

  /** When the last call had ended. */
  long answeredNs() {
    return answeredNs;
  }

  /** The life in which the last call began. */
  int began() {
    return began;
  }

  /** The life in which the last call was answered. */
  int answered() {
    return answered;
  }

  /** How often the last call was sent. */
  int attempts() {
    return attempts;
  }

  /** The way that the last attempt went. */
  Route route() {
    return route;
  }

  /**
   * Makes a write until it is answered; null if its outcome is gone, as an index in memory may be,
   * and the newest numbers of clients of one at {@code interval}.
   *
   * @param request gets the number of the write, or of the first of several
   */
  <Q, R> R write(
      KilledIndex index, MethodDescriptor<Q, R> method, Function<RequestNumber, Q> request, int n)
      throws InterruptedException {
    final RequestNumber.Builder number =
        RequestNumber.newBuilder().setNumber(next).setFirstIncomplete(next);
    next += n;
    attempts = 0;
    while (true) {
      final boolean gated = index.durability() != Durability.DISK;
      final int life = gated ? gate.enter() : gate.life();
      if (attempts == 0) {
        began = life;
        invokedNs = System.nanoTime();
      }
      try {
        number.setClient(client(index.name()));
        attempts++;
        final R response = attempt(method, request.apply(number.build()));
        answeredNs = System.nanoTime();
        answered = gated ? life : gate.life();
        counts.answered[index.durability().getNumber() - 1].addAndGet(n);
        return response;
      } catch (StatusRuntimeException e) {
        answeredNs = System.nanoTime();
        final boolean isGone = gated && isGone(e);
        if (isGone) {
          clients.remove(index.name());
        }
        if (isGone && attempts > 1) {
          answered = life;
          counts.gone.incrementAndGet();
          return null;
        }
        if (isGone) { // and nothing was carried out
          attempts = 0;
        } else if (!isLost(e) || answeredNs - invokedNs > TimeUnit.SECONDS.toNanos(WRITE_S)) {
          throw failure(method, e);
        }
      } finally {
        if (gated) {
          gate.exit();
        }
      }
      if (attempts == 1) {
        counts.repeated.incrementAndGet();
        number.setIncarnation(index.incarnation());
      }
      pause();
    }
  }

  /** The number of the client of an index; opens it if there is none, which may find no server. */
  private long client(String index) {
    if (!clients.containsKey(index)) {
      final OpenClientRequest request = OpenClientRequest.newBuilder().setIndex(index).build();
      clients.put(index, attempt(IndexGrpc.getOpenClientMethod(), request).getClient());
    }
    client = clients.get(index);
    return client;
  }

  /** Makes a read once; null if it has lost its server. */
  <Q, R> R read(KilledIndex index, MethodDescriptor<Q, R> method, Q request)
      throws InterruptedException {
    final boolean gated = index.durability() != Durability.DISK;
    began = gated ? gate.enter() : gate.life();
    attempts = 1;
    invokedNs = System.nanoTime();
    try {
      final R response = attempt(method, request);
      answeredNs = System.nanoTime();
      answered = gated ? began : gate.life();
      return response;
    } catch (StatusRuntimeException e) {
      if (!isLost(e)) {
        throw failure(method, e);
      }
    } finally {
      if (gated) {
        gate.exit();
      }
    }
    pause();
    return null;
  }

  private <Q, R> R attempt(MethodDescriptor<Q, R> method, Q request) {
    route = routes.get(random.nextInt(routes.size()));
    return ClientCalls.blockingUnaryCall(
        route.channel(),
        method,
        CallOptions.DEFAULT.withDeadlineAfter(ATTEMPT_S, TimeUnit.SECONDS),
        request);
  }

  private AssertionError failure(MethodDescriptor<?, ?> method, StatusRuntimeException e) {
    return new AssertionError(
        method.getBareMethodName()
            + ": client="
            + client
            + " attempts="
            + attempts
            + " after "
            + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - invokedNs)
            + " ms",
        e);
  }

  private void pause() {
    ((ManagedChannel) route.channel()).resetConnectBackoff();
    LockSupport.parkNanos(1 + random.nextInt(PAUSE_NS));
  }

  private static boolean isGone(StatusRuntimeException e) {
    return e.getStatus().getCode() == Status.Code.FAILED_PRECONDITION
        && String.valueOf(e.getStatus().getDescription()).startsWith("outcome is gone");
  }

  /** Whether a call has found no server, or has lost it; as {@link Caller} has it. */
  private static boolean isLost(StatusRuntimeException e) {
    return e.getStatus().getCode() == Status.Code.UNAVAILABLE
        || (e.getStatus().getCode() == Status.Code.UNKNOWN
            && e.getCause() instanceof ClosedChannelException);
  }
}
