package dev.ringfetch.index.node;

import io.grpc.Status;
import io.grpc.StatusException;
import java.lang.System.Logger.Level;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The catch-up of a node with the coordinator, and the steps of calls that wait for it. A step that
 * throws ends its call with a status, and has no effect on other calls.
 */
@FunctionalInterface
public interface CatchUp {
  /**
   * Catches up with the coordinator: after that this node knows each index of the cluster that was
   * there before.
   *
   * @param told is told, on any thread, once
   */
  void sync(Synced told);

  /** Takes the end of a catch-up. */
  @FunctionalInterface
  interface Synced {
    /**
     * The catch-up has ended.
     *
     * @param failure null if this node has caught up; UNAVAILABLE if it has not; RESOURCE_EXHAUSTED
     *     if too many calls wait
     */
    void onEnd(@Nullable StatusException failure);
  }

  /** A step of a call. */
  @FunctionalInterface
  interface Step {
    void run() throws StatusException;
  }

  /** A step of a call that finds something; null: this node does not know of it. */
  @FunctionalInterface
  interface Look<T> {
    T find() throws StatusException;
  }

  /** A step of a call that takes what a look has found; null if there is none. */
  @FunctionalInterface
  interface Use<T> {
    void take(T found) throws StatusException;
  }

  /**
   * Looks, and uses what the look finds. If it finds nothing, catches up and looks again before:
   * only then does absence count.
   *
   * @param failed ends the call
   */
  static <T> void whenKnown(
      CatchUp catchUp, Look<T> look, Use<T> use, Consumer<StatusException> failed) {
    carryOut(
        () -> {
          final T found = look.find();
          if (found != null) {
            use.take(found);
          } else {
            catchUp.afterSync(() -> use.take(look.find()), failed);
          }
        },
        failed);
  }

  /**
   * Carries a step out after the next catch-up.
   *
   * @param failed ends the call
   */
  default void afterSync(Step step, Consumer<StatusException> failed) {
    sync(
        failure -> {
          if (failure != null) {
            failed.accept(failure);
          } else {
            carryOut(step, failed);
          }
        });
  }

  /**
   * Carries a step out.
   *
   * @param failed ends the call, which would never end otherwise, if the step throws
   */
  static void carryOut(Step step, Consumer<StatusException> failed) {
    try {
      step.run();
    } catch (StatusException e) {
      failed.accept(e);
    } catch (RuntimeException | Error e) {
      System.getLogger(CatchUp.class.getName()).log(Level.ERROR, "a call has failed", e);
      failed.accept(Status.INTERNAL.withDescription("the call failed").withCause(e).asException());
    }
  }
}
