package dev.ringfetch.index.node;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * The contact of a node to the coordinator, as an operator learns of it: when it is made first,
 * when it is long in coming, when it ends and is made again.
 *
 * <p>Of the node's thread.
 */
public final class CoordinatorContact {
  private static final Logger LOGGER = System.getLogger(CoordinatorContact.class.getName());

  /** How long a node waits for the coordinator before it says so. */
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(2);

  private boolean reached;

  /** When to say that the coordinator has not been reached; 0 once it is said, or was reached. */
  private long patientUntilNs;

  private Runnable reachedFirst;

  /**
   * Begins to wait for the coordinator.
   *
   * @param reachedFirst is run once, when the coordinator is reached first
   */
  public CoordinatorContact(Runnable reachedFirst) {
    this.reachedFirst = reachedFirst;
    patientUntilNs = System.nanoTime() + PATIENCE_NS | 1;
  }

  /**
   * Tells what has changed.
   *
   * @param now whether the coordinator is reached
   */
  public void tell(boolean now) {
    if (now == reached) {
      if (patientUntilNs != 0 && System.nanoTime() - patientUntilNs >= 0) {
        patientUntilNs = 0;
        LOGGER.log(
            Level.WARNING,
            "the coordinator has not been reached yet: until it is, this node knows of no index");
      }
      return;
    }
    reached = now;
    patientUntilNs = 0;
    if (now) {
      reachedFirst.run();
      reachedFirst = () -> {};
      LOGGER.log(Level.INFO, "the coordinator is reached");
    } else {
      LOGGER.log(
          Level.WARNING,
          "the coordinator is away: what is served goes on, and no node can take the place of one"
              + " that fails");
    }
  }
}
