package dev.ringfetch.session.poller;

/**
 * The backup thread for inline tasks: takes the poller over when an {@link InlineTask} runs on its
 * thread for more than {@link InlinePatience#PATIENCE_NS}.
 */
final class InlineBackup extends BackupThread {
  private final Work work;

  // Used by the backup thread.
  private final InlinePatience patience;
  private boolean waits; // the thread that is about to lose the poller

  InlineBackup(PollerParts parts, Work work, int leastPerWindow) {
    super(parts, "-");
    this.work = work;
    this.patience = new InlinePatience(leastPerWindow);
  }

  /**
   * Called when a lease was given: the backup thread must look. May come late, after the lease has
   * ended, or when there is no backup thread; the next one then looks.
   */
  void lent() {
    wake();
  }

  @Override
  void stand() {
    patience.stand(clock.nanoTime(), work.calls());
  }

  @Override
  void begin() {
    patience.begin(clock.nanoTime(), work.calls());
  }

  @Override
  long look() {
    final boolean lent = lease.isInline();
    final long pauseNs = patience.look(clock.nanoTime(), lent, work.lentAtNs(), work.calls());
    if (pauseNs == TAKE) {
      waits = lease.isLenderWaiting();
    }
    return pauseNs;
  }

  @Override
  void taken() {
    pause();
    try {
      work.takenOver(patience.lentAtNs(), waits);
    } catch (Throwable t) {
      // for lack of memory: the remaining tasks are handed over after the next round
      Callbacks.report(t);
    }
  }

  /** The inline tasks that this thread watches. */
  interface Work {
    /** Tasks that were run so far. Any thread. */
    long calls();

    /** The time at which the lease for such a task began, in nanoseconds. Any thread. */
    long lentAtNs();

    /**
     * Called when the poller was taken over from a thread that runs such a task, and perhaps waits
     * in it.
     */
    void takenOver(long lentNs, boolean waits);
  }
}
