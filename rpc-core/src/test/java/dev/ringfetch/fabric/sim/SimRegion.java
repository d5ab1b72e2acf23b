package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.BufferedRegion;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MemoryRegion;

/**
 * Memory as the CPU of one side reaches it: behind a store buffer, and with others coming between
 * at every ordered access. What a process that was killed does is without effect, and a process
 * that has left the memory must stay out.
 */
public final class SimRegion implements MemoryRegion {
  private final SimNetwork network;
  private final SimFabric process;
  private final DirectRegion memory;
  private final BufferedRegion view;
  private boolean left;

  SimRegion(SimFabric process, DirectRegion memory) {
    this.process = process;
    this.network = process.network();
    this.memory = memory;
    this.view = new BufferedRegion(memory, network.storeOrder());
  }

  private SimRegion(SimRegion beside, DirectRegion memory) {
    this.process = beside.process;
    this.network = beside.network;
    this.memory = memory;
    this.view = beside.view.beside(memory);
  }

  /** The same side's view of other memory: behind the same store buffer. */
  SimRegion beside(DirectRegion other) {
    return new SimRegion(this, other);
  }

  /** The memory that others reach. */
  DirectRegion memory() {
    return memory;
  }

  /** True when there is a store that can become visible now. */
  public boolean canDrain() {
    return !view.isDrained() && process.writeDelayNs() == 0;
  }

  /** Makes one store visible. */
  public void drainOne() {
    synchronized (network) {
      view.drainOne();
    }
  }

  /** Makes every store visible, as a fence does. */
  public void drain() {
    synchronized (network) {
      view.drain();
    }
  }

  /** Loses the stores that are not visible. */
  void drop() {
    view.drop();
  }

  /** This side is out of the memory. */
  void leave() {
    view.drain();
    left = true;
  }

  private void access(boolean ordered) {
    if (left && !process.isDead()) {
      network.violation("access to memory after the queue pair was closed");
    }
    if (ordered) {
      network.preempt();
    }
  }

  @Override
  public int length() {
    return view.length();
  }

  @Override
  public long getLong(int index) {
    synchronized (network) {
      access(false);
      return view.getLong(index);
    }
  }

  @Override
  public void putLong(int index, long value) {
    synchronized (network) {
      access(false);
      if (!process.isDead()) {
        view.putLong(index, value);
      }
    }
  }

  @Override
  public int getInt(int index) {
    synchronized (network) {
      access(false);
      return view.getInt(index);
    }
  }

  @Override
  public void putInt(int index, int value) {
    synchronized (network) {
      access(false);
      if (!process.isDead()) {
        view.putInt(index, value);
      }
    }
  }

  @Override
  public long getLongAcquire(int index) {
    synchronized (network) {
      access(true);
      return view.getLongAcquire(index);
    }
  }

  @Override
  public void putLongRelease(int index, long value) {
    synchronized (network) {
      access(true);
      if (!process.isDead()) {
        view.putLongRelease(index, value);
      }
    }
  }

  @Override
  public int getIntAcquire(int index) {
    synchronized (network) {
      access(true);
      return view.getIntAcquire(index);
    }
  }

  @Override
  public void putIntRelease(int index, int value) {
    synchronized (network) {
      access(true);
      if (!process.isDead()) {
        view.putIntRelease(index, value);
      }
    }
  }

  @Override
  public void getBytes(int index, byte[] destination, int offset, int length) {
    synchronized (network) {
      access(false);
      view.getBytes(index, destination, offset, length);
    }
  }

  @Override
  public void putBytes(int index, byte[] source, int offset, int length) {
    synchronized (network) {
      access(false);
      if (!process.isDead()) {
        view.putBytes(index, source, offset, length);
      }
    }
  }

  @Override
  public void fullFence() {
    synchronized (network) {
      access(true);
      view.fullFence();
    }
  }

  @Override
  public void verify() {} // nobody can take it away
}
