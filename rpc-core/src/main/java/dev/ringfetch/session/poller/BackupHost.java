package dev.ringfetch.session.poller;

/** The interface of a poller for its {@link BackupThread}. */
interface BackupHost {
  /** Stands by on the calling thread, and serves when the poller is to be taken over. */
  void standBy();

  /** True when no thread will serve the poller's sessions any more. */
  boolean isFinished();

  /** Name of the thread that has served the poller first. */
  String name();
}
