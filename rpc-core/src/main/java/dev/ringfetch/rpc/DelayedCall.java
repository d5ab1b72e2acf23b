package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.grpc.Attributes;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * A call that queues its operations until another call has started, and then replays them on that
 * one. A cancel does not wait for the replay: the other call gets it as soon as it has started, and
 * the rest of a replay has no effect on it then. No user code (interceptors, marshallers,
 * listeners) runs under the monitor. Thread-safe.
 *
 * <table>
 *   <caption>States</caption>
 *   <tr><th>state</th><th>event</th><th>next</th></tr>
 *   <tr><td>TRYING</td><td>the server may have seen the first call</td><td>PASSING</td></tr>
 *   <tr><td>TRYING</td><td>the first call has ended unseen</td><td>STARTING</td></tr>
 *   <tr><td>WAITING</td><td>the wait is over</td><td>STARTING</td></tr>
 *   <tr><td>WAITING, STARTING</td><td>there will be no other call</td><td>PASSING</td></tr>
 *   <tr><td>STARTING</td><td>the other call has started</td><td>REPLAYING</td></tr>
 *   <tr><td>REPLAYING</td><td>the queue is empty, or an operation throws</td><td>PASSING</td></tr>
 * </table>
 */
class DelayedCall<ReqT, RespT> extends ClientCall<ReqT, RespT> {
  /** See the table of {@link DelayedCall}. */
  enum State {
    TRYING,
    WAITING,
    STARTING,
    REPLAYING,
    PASSING;

    private boolean mayBecome(State next) {
      return switch (next) {
        case TRYING, WAITING -> false;
        case STARTING -> this == TRYING || this == WAITING;
        case REPLAYING -> this == STARTING;
        case PASSING -> this != PASSING;
      };
    }
  }

  private ClientCall<ReqT, RespT> first; // carries out the operations while TRYING

  @GuardedBy("this")
  private List<Consumer<ClientCall<ReqT, RespT>>> queue = new ArrayList<>();

  @GuardedBy("this")
  private Consumer<ClientCall<ReqT, RespT>> cancel;

  private volatile State state; // changed under the monitor
  private volatile ClientCall<ReqT, RespT> real; // started; null while WAITING or STARTING

  /** Creates a call in the place of one that was given up: the other one is about to start. */
  DelayedCall() {
    this(State.STARTING);
  }

  DelayedCall(State initial) {
    this.state = initial;
  }

  /** Sets the call that carries out the operations while the state is TRYING. */
  final void tries(ClientCall<ReqT, RespT> call) {
    first = call;
    real = call;
  }

  @GuardedBy("this")
  private void move(State next) {
    if (!state.mayBecome(next)) {
      throw new IllegalStateException("state=" + state + " next=" + next);
    }
    state = next;
  }

  final boolean isWaiting() {
    return state == State.WAITING;
  }

  /** True when the server may have seen the first call, which then stays the only one. */
  boolean isFirstUnderWay() {
    return false;
  }

  /** Begins the start of the other call. False if another thread was first, or there is none. */
  final synchronized boolean begin() {
    if (!state.mayBecome(State.STARTING)) {
      return false;
    }
    move(State.STARTING);
    real = null;
    return true;
  }

  /**
   * Replays the queued operations on the other call, which has started; all later ones go there,
   * too.
   *
   * @param earlier replays the operations from before this call existed.
   */
  final void become(ClientCall<ReqT, RespT> started, Consumer<ClientCall<ReqT, RespT>> earlier) {
    final Consumer<ClientCall<ReqT, RespT>> cancelled;
    synchronized (this) {
      move(State.REPLAYING);
      real = started;
      cancelled = cancel;
    }
    try {
      (cancelled == null ? earlier : cancelled).accept(started);
      for (var operations = take(); !operations.isEmpty(); operations = take()) {
        if (cancelled == null) {
          operations.forEach(operation -> operation.accept(started));
        }
      }
    } catch (Throwable t) { // which nobody else would hear of
      end();
      started.cancel("Failed to repeat the call", t);
    }
  }

  /** Takes the queued operations. If there are none, later ones are passed on. */
  private synchronized List<Consumer<ClientCall<ReqT, RespT>>> take() {
    final List<Consumer<ClientCall<ReqT, RespT>>> taken = queue;
    if (taken.isEmpty()) {
      move(State.PASSING);
    } else {
      queue = new ArrayList<>();
    }
    return taken;
  }

  /** Drops the queued operations. Later ones have no effect, unless the other call has started. */
  final synchronized void end() {
    queue = List.of();
    if (real == null) {
      real = new ClosedCall<>();
    }
    move(State.PASSING); // last: a thread that sees it finds the call
  }

  private void carryOut(Consumer<ClientCall<ReqT, RespT>> operation) {
    final ClientCall<ReqT, RespT> tried = state == State.TRYING ? first : null;
    if (tried != null) {
      operation.accept(tried);
    }
    if (state != State.PASSING && isQueued(operation)) {
      return;
    }
    final ClientCall<ReqT, RespT> passed = real;
    if (passed != tried) { // or it has been carried out
      operation.accept(passed);
    }
  }

  private synchronized boolean isQueued(Consumer<ClientCall<ReqT, RespT>> operation) {
    if (state == State.TRYING && isFirstUnderWay()) {
      move(State.PASSING);
      queue = List.of();
    }
    return state != State.PASSING && queue.add(operation);
  }

  @Override
  public void start(Listener<RespT> listener, Metadata headers) {
    throw new IllegalStateException("Already started");
  }

  @Override
  public final void request(int numMessages) {
    carryOut(call -> call.request(numMessages));
  }

  @Override
  public final void sendMessage(ReqT message) {
    carryOut(call -> call.sendMessage(message));
  }

  @Override
  public final void halfClose() {
    carryOut(ClientCall::halfClose);
  }

  @Override
  public final void setMessageCompression(boolean enabled) {
    carryOut(call -> call.setMessageCompression(enabled));
  }

  @Override
  public void cancel(String message, Throwable cause) {
    final ClientCall<ReqT, RespT> cancelled;
    synchronized (this) {
      cancel = call -> call.cancel(message, cause);
      cancelled = real;
    }
    if (cancelled != null) {
      cancelled.cancel(message, cause);
    }
  }

  @Override
  public final boolean isReady() {
    final State now = state;
    final ClientCall<ReqT, RespT> call = real;
    return call != null && now != State.REPLAYING && call.isReady();
  }

  @Override
  public final Attributes getAttributes() {
    final ClientCall<ReqT, RespT> call = real;
    return call == null ? Attributes.EMPTY : call.getAttributes();
  }
}
