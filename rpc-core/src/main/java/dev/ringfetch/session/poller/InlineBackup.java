package dev.ringfetch.session.poller;

/**
 * Takes a poller's duty over when an {@link InlineTask} keeps the poller's own thread from it for
 * more than {@link InlinePatience#PATIENCE_NS}.
 */
final class InlineBackup extends BackupThread {
  private final Work work;

  // Of the thread that stands here.
  private final InlinePatience patience;
  private boolean waits; // the thread that is about to lose the duty

  InlineBackup(PollerParts parts, Work work, int leastPerWindow) {
    super(parts, "-");
    this.work = work;
    this.patience = new InlinePatience(leastPerWindow);
  }

  /**
   * The duty is lent: whoever stands here must look. May come late, when it is lent no longer, or
   * when nobody stands here; whoever comes then looks.
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
    } catch (Throwable t) { // for want of memory: what is left is handed over after the next round
      Callbacks.report(t);
    }
  }

  /** The inline tasks that this thread looks after. */
  interface Work {
    /** Tasks that were run so far. Any thread. */
    long calls();

    /** Since when the poller is lent for such a task, in nanoseconds. Any thread. */
    long lentAtNs();

    /** The poller was taken over from a thread that runs such a task, and perhaps waits in it. */
    void takenOver(long lentNs, boolean waits);
  }
}
