package dev.ringfetch.index.replication;

import dev.ringfetch.index.log.GroupDisk;

/** A disk that takes all, and has all at once. */
abstract class PatientDisk implements GroupDisk {
  private long appended;

  /** Takes what is appended. */
  abstract void take(byte[] bytes, int offset, int length);

  @Override
  public final boolean append(byte[] bytes, int offset, int length, boolean isUrgent) {
    take(bytes, offset, length);
    appended++;
    return true;
  }

  @Override
  public final long appended() {
    return appended;
  }

  @Override
  public final long durable() {
    return appended;
  }

  @Override
  public final boolean isFailed() {
    return false;
  }

  @Override
  public final boolean isShort() {
    return false;
  }

  @Override
  public final boolean isFull(int length, int type) {
    return false;
  }

  @Override
  public final void onChange(Runnable listener) {
    // The test asks.
  }

  @Override
  public final void close() {
    // Nothing to give back.
  }
}
