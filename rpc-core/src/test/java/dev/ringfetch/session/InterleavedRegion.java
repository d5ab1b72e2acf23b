package dev.ringfetch.session;

import dev.ringfetch.fabric.DirectRegion;

/** Memory in which something happens just before one chosen access. */
final class InterleavedRegion extends DirectRegion {
  private Runnable action;
  private int before = -1;

  InterleavedRegion(int length) {
    super(length);
  }

  /** Runs the action before the access of this number from now on. */
  void inject(int access, Runnable injected) {
    before = access;
    action = injected;
  }

  /** Injects no more. Returns false if it had not come to it. */
  boolean stop() {
    final boolean happened = before < 0;
    before = -1;
    return happened;
  }

  private void access() {
    if (before >= 0 && before-- == 0) {
      action.run();
    }
  }

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
