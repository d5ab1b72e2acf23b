package dev.ringfetch.index.partition;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The log of an index that lives as long as its server: keeps no records, and commits each record
 * within append.
 */
public final class ImmediateLog implements CommitLog {
  private final AtomicLong last;

  /**
   * Creates the log.
   *
   * @param ceiling the LSNs begin above it; 0 for a new partition.
   * @throws IllegalArgumentException if the ceiling is not from 0 to {@link #MAX_LSN}.
   */
  public ImmediateLog(long ceiling) {
    if (ceiling < 0 || ceiling > MAX_LSN) {
      throw new IllegalArgumentException("ceiling=" + ceiling + " limit=" + MAX_LSN);
    }
    last = new AtomicLong(ceiling);
  }

  @Override
  public long append(Write write) {
    final long lsn = last.getPlain() + 1;
    if (lsn > MAX_LSN) {
      return EXHAUSTED;
    }
    last.setRelease(lsn);
    return lsn;
  }

  @Override
  public long committed() {
    return last.getAcquire();
  }

  @Override
  public boolean isImmediate() {
    return true;
  }

  @Override
  public void onCommit(Runnable listener) {
    // All commits happen within append.
  }
}
