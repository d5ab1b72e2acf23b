package dev.ringfetch.session.poller;

/** The poller that a {@link BackupThread} stands by for, as that one sees it. */
interface BackupHost {
  /** Stands by in the calling thread, and serves when the poller is to be taken over. */
  void standBy();

  /** True when nobody serves the poller's sessions any more, for ever. */
  boolean isFinished();

  /** Name of the thread that has served the poller first. */
  String name();
}
