package dev.ringfetch.session.poller;

/**
 * The patience of a {@link BackupThread} with the tasks of its poller: when the thread looks at
 * them, when it takes the poller over, and what follows from that. Used by the backup thread.
 */
interface Patience {
  /** Result of a look: there is nothing to watch. */
  long REST = -1;

  /** Result of a look: take the poller over. */
  long TAKE = -2;

  /**
   * Called when another thread becomes the backup.
   *
   * @return true when it must look at once.
   */
  boolean stand(long nowNs);

  /** Called when the thread begins to look, after a rest. */
  void begin(long nowNs);

  /**
   * Does one look.
   *
   * @return nanoseconds until the next one, {@link #REST} or {@link #TAKE}.
   */
  long look(long nowNs);

  /** Called when the thread has taken the poller over. */
  void taken();
}
