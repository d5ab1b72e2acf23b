package dev.ringfetch.rdma.verbs;

/** What may be done to registered memory and through a queue pair: access flags. */
final class RegionLayout {
  /** Flag: the local device writes to it; asked for by the other two that write. */
  static final int LOCAL_WRITE = 1;

  /** Flag: the peer WRITEs. */
  static final int REMOTE_WRITE = 2;

  /** Flag: the peer READs. */
  static final int REMOTE_READ = 4;

  /** Flag: the peer swaps and adds. */
  static final int REMOTE_ATOMIC = 8;

  /** Flag: windows may be bound to it. */
  static final int BIND_WINDOWS = 16;

  private RegionLayout() {}
}
