package dev.ringfetch.session.poller;

/** Stands in line, and is its own record. */
public abstract class LinkedTask implements InlineTask, InlineTask.RunRecord {
  private InlineTask next;

  @Override
  public final RunRecord record() {
    return this;
  }

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
