package dev.ringfetch.session;

import org.agrona.concurrent.NanoClock;

/**
 * Takes a poller's duty over when an {@link InlineTask} keeps the poller's own thread from it for
 * more than {@link InlinePatience#PATIENCE_NS}.
 */
final class InlineBackup extends BackupThread {
  private final InlineTasks inline;

  // Of the thread that stands here.
  private final InlinePatience watch;
  private boolean waits; // the thread that is about to lose the duty

  InlineBackup(
      InlineTasks inline,
      Poller poller,
      OwnerToken token,
      PollerLease lease,
      NanoClock clock,
      int leastPerWindow) {
    super(poller, token, lease, clock, "-");
    this.inline = inline;
    this.watch = new InlinePatience(leastPerWindow);
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
    watch.stand(clock.nanoTime(), inline.calls());
  }

  @Override
  void begin() {
    watch.begin(clock.nanoTime(), inline.calls());
  }

  @Override
  long look() {
    final boolean lent = lease.isInline();
    final long pauseNs = watch.look(clock.nanoTime(), lent, inline.lentAtNs(), inline.calls());
    if (pauseNs == InlinePatience.TAKE) {
      waits = lease.isLenderWaiting();
    }
    return pauseNs;
  }

  @Override
  void taken() {
    pause();
    try {
      inline.takenOver(watch.lentAtNs(), waits);
    } catch (Throwable t) { // for want of memory: what is left is handed over after the next round
      Callbacks.report(t);
    }
  }
}
