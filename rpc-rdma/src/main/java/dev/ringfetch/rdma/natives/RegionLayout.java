package dev.ringfetch.rdma.natives;

/** Access flags of registered memory and of queue pairs. */
public final class RegionLayout {
  /** Flag: the local device writes to it; required by the other two flags that write. */
  public static final int LOCAL_WRITE = 1;

  /** Flag: the peer WRITEs. */
  public static final int REMOTE_WRITE = 2;

  /** Flag: the peer READs. */
  public static final int REMOTE_READ = 4;

  /** Flag: the peer swaps and adds. */
  public static final int REMOTE_ATOMIC = 8;

  /** Flag: windows may be bound to it. */
  public static final int BIND_WINDOWS = 16;

  private RegionLayout() {}
}
