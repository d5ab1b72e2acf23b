package dev.ringfetch.session;

/**
 * Memory that a hostile peer shares: it changes under its reader before a chosen access, and counts
 * what the reader does with it.
 */
final class HostileRegion extends WatchedRegion {
  private Runnable change;
  private int accessesUntilChange = -1;
  private boolean watching;
  private long accesses;
  private long copied;

  HostileRegion(int length) {
    super(length);
  }

  /** Makes a change before the access of this number that is watched. */
  void changeBefore(int access, Runnable change) {
    this.change = change;
    this.accessesUntilChange = access;
  }

  /** True while a change is due. */
  boolean isChanging() {
    return accessesUntilChange >= 0;
  }

  /** Counts from here on. */
  void watch() {
    watching = true;
    accesses = 0;
    copied = 0;
  }

  void unwatch() {
    watching = false;
  }

  /** Loads and stores since {@link #watch}, a bulk one counting once. */
  long accesses() {
    return accesses;
  }

  /** Bytes that were copied out since {@link #watch}. */
  long copied() {
    return copied;
  }

  @Override
  void access() {
    if (!watching) {
      return;
    }
    accesses++;
    if (accessesUntilChange >= 0 && accessesUntilChange-- == 0) {
      watching = false;
      change.run();
      watching = true;
    }
  }

  @Override
  public long getLong(int index) {
    access();
    return super.getLong(index);
  }

  @Override
  public void putLong(int index, long value) {
    access();
    super.putLong(index, value);
  }

  @Override
  public int getInt(int index) {
    access();
    return super.getInt(index);
  }

  @Override
  public void putInt(int index, int value) {
    access();
    super.putInt(index, value);
  }

  @Override
  public void getBytes(int index, byte[] destination, int offset, int length) {
    access();
    copied += length;
    super.getBytes(index, destination, offset, length);
  }

  @Override
  public void putBytes(int index, byte[] source, int offset, int length) {
    access();
    super.putBytes(index, source, offset, length);
  }
}
