package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator.Answer;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.v1.GroupState;

/**
 * A conditional change under way.
 *
 * <p>When the connection is lost, whether the change was made is unknown. The next connection reads
 * the state, and the nonce in it, and versions, tell. A change that was not made is sent again: it
 * has the same condition, so a first attempt that arrives late, or the second, has no effect.
 */
abstract class Request {
  /** What a request needs of the coordinator. */
  interface Context {
    Ensemble ensemble();

    ClusterPaths paths();

    ClusterView view();

    /** The request is answered. */
    void end(Request request, Result result, GroupState state);

    /** The request goes on when the state has been read in another connection. */
    void onLoss(Request request);
  }

  final Context context;
  private final Answer answer;
  private boolean lost;

  Request(Context context, Answer answer) {
    this.context = context;
    this.answer = answer;
  }

  /** Sends the request, or goes on with it. The view is current. */
  abstract void proceed();

  final Answer answer() {
    return answer;
  }

  /** Whether the answer of an attempt was lost. */
  final boolean isLost() {
    return lost;
  }

  /** The answer of an attempt was lost with the connection. */
  final void loseAnswer() {
    lost = true;
    context.onLoss(this);
  }

  /** All attempts were found to have had no effect. */
  final void forgetLoss() {
    lost = false;
  }

  /** Something could not be read, as the connection was lost. */
  final void proceedLater() {
    context.onLoss(this);
  }

  final void end(Result result, GroupState state) {
    context.end(this, result, state);
  }
}
