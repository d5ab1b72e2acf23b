package dev.ringfetch.rpc;

import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.bulk.MemoryQuota;

/**
 * The limit of the requests and streams' messages that servers keep in memory together: from a
 * message's first frame on until the handler has taken it, or its call has ended. Unary requests of
 * up to 8 KiB do not count, and neither do the first 64 KiB of each session.
 *
 * <p>Beyond the limit, further messages wait in their rings, and their senders with them, until
 * others are given back. One session gets half of the budget and one message at the most. The last
 * message may exceed the limit, so that a message longer than the budget passes.
 *
 * <p>Thread-safe.
 */
public final class MessageBudget {
  /** Limit of {@link #PROCESS}, in bytes: a quarter of the heap's maximum. */
  public static final long LIMIT_DEFAULT = SessionContext.MESSAGE_QUOTA_DEFAULT;

  /** Budget of all servers of this process that were given no other. */
  public static final MessageBudget PROCESS = new MessageBudget(LIMIT_DEFAULT);

  private final MemoryQuota quota;

  /**
   * Creates a budget.
   *
   * @param limit of the messages, in bytes.
   * @throws IllegalArgumentException if it is less than 1: no message would pass.
   */
  public MessageBudget(long limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit=" + limit);
    }
    this.quota = new MemoryQuota(limit);
  }

  /** Messages in memory that count, in bytes. */
  public long reserved() {
    return quota.reserved();
  }

  /** Returns this budget in the form that sessions take. */
  MemoryQuota quota() {
    return quota;
  }
}
