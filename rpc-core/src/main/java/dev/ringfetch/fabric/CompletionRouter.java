package dev.ringfetch.fabric;

import java.util.Arrays;

/**
 * The router of a queue pair's completions: passes each to the user that posted its work request,
 * by the request's id. Belongs to the owner of the queue pair.
 */
public final class CompletionRouter {
  private static final long FIRST = 1;

  private final QueuePair queuePair;
  private final CompletionQueue.Handler handler = this::route; // allocated once
  private CompletionQueue.Handler[] users = {};

  /** Creates a router without users. */
  public CompletionRouter(QueuePair queuePair) {
    this.queuePair = queuePair;
  }

  /**
   * Adds a user of the queue pair.
   *
   * @param user gets the completions of its requests, in posting order.
   * @return the id of all its work requests.
   */
  public long add(CompletionQueue.Handler user) {
    users = Arrays.copyOf(users, users.length + 1);
    users[users.length - 1] = user;
    return users.length - 1 + FIRST;
  }

  /**
   * Takes completions of the queue pair, and passes them on; those of other requests are dropped.
   *
   * @param limit how many at the most.
   * @return how many there were, of any user.
   */
  public int poll(int limit) {
    return queuePair.completions().poll(handler, limit);
  }

  private void route(long workRequestId, int status, long value) {
    if (workRequestId >= FIRST && workRequestId < users.length + FIRST) {
      users[(int) (workRequestId - FIRST)].onCompletion(workRequestId, status, value);
    }
  }
}
