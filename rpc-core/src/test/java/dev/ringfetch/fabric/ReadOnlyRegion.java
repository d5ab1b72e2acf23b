package dev.ringfetch.fabric;

import java.nio.ReadOnlyBufferException;

/** Memory that may only be loaded from. */
public final class ReadOnlyRegion implements MemoryRegion {
  private final MemoryRegion region;

  public ReadOnlyRegion(MemoryRegion region) {
    this.region = region;
  }

  @Override
  public int length() {
    return region.length();
  }

  @Override
  public long getLong(int index) {
    return region.getLong(index);
  }

  @Override
  public void putLong(int index, long value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public int getInt(int index) {
    return region.getInt(index);
  }

  @Override
  public void putInt(int index, int value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public long getLongAcquire(int index) {
    return region.getLongAcquire(index);
  }

  @Override
  public void putLongRelease(int index, long value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public int getIntAcquire(int index) {
    return region.getIntAcquire(index);
  }

  @Override
  public void putIntRelease(int index, int value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public void getBytes(int index, byte[] destination, int offset, int length) {
    region.getBytes(index, destination, offset, length);
  }

  @Override
  public void putBytes(int index, byte[] source, int offset, int length) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public void fullFence() {
    region.fullFence();
  }

  @Override
  public void verify() {
    region.verify();
  }
}
