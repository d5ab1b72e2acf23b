package dev.ringfetch.session.poller;

/** Stands in line. */
public abstract class LinkedTask implements InlineTask {
  private InlineTask next;

  @Override
  public boolean isDoubtful() {
    return false;
  }

  @Override
  public final InlineTask nextInLine() {
    return next;
  }

  @Override
  public final void nextInLine(InlineTask next) {
    this.next = next;
  }
}
