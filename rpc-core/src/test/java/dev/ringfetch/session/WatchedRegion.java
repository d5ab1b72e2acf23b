package dev.ringfetch.session;

import dev.ringfetch.fabric.DirectRegion;

/** Memory that notices each ordered access, before it. */
abstract class WatchedRegion extends DirectRegion {
  WatchedRegion(int length) {
    super(length);
  }

  /** An access follows. */
  abstract void access();

  @Override
  public long getLongAcquire(int index) {
    access();
    return super.getLongAcquire(index);
  }

  @Override
  public void putLongRelease(int index, long value) {
    access();
    super.putLongRelease(index, value);
  }

  @Override
  public int getIntAcquire(int index) {
    access();
    return super.getIntAcquire(index);
  }

  @Override
  public void putIntRelease(int index, int value) {
    access();
    super.putIntRelease(index, value);
  }

  @Override
  public void fullFence() {
    access();
    super.fullFence();
  }
}
