package dev.ringfetch.rpc;

import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.bulk.MemoryQuota;

/**
 * The limit of the registered memory that channels and servers use together for long messages. A
 * session that finds the budget used up sends long messages as it does when its own memory is used
 * up, in frames; it asks again once a second at the most. A session keeps its memory until it ends.
 * (Memory in {@code RegisteredBuffer}s that the application still has then counts no longer, and is
 * left to the garbage collector.)
 *
 * <p>Thread-safe.
 */
public final class BulkBudget {
  /** Limit of {@link #PROCESS}, in bytes. */
  public static final long LIMIT_DEFAULT = SessionContext.BULK_QUOTA_DEFAULT;

  /** Budget of all channels and servers of this process that were given no other. */
  public static final BulkBudget PROCESS = new BulkBudget(LIMIT_DEFAULT);

  private final MemoryQuota quota;

  /**
   * Creates a budget.
   *
   * @param limit of the registered memory, in bytes; 0 for none.
   */
  public BulkBudget(long limit) {
    this.quota = new MemoryQuota(limit);
  }

  /** Registered memory that sessions have, in bytes. */
  public long reserved() {
    return quota.reserved();
  }

  /** Returns this budget in the form that sessions take. */
  MemoryQuota quota() {
    return quota;
  }
}
