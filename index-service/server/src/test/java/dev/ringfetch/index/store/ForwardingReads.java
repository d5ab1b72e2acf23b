package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Reads;

/** Reads that others make; subclasses change some of their methods. */
abstract class ForwardingReads implements Reads {
  private final Reads reads;

  ForwardingReads(Reads reads) {
    this.reads = reads;
  }

  @Override
  public void begin() {
    reads.begin();
  }

  @Override
  public int add(long address, int length) {
    return reads.add(address, length);
  }

  @Override
  public int execute() {
    return reads.execute();
  }

  @Override
  public MemoryRegion region(int number) {
    return reads.region(number);
  }

  @Override
  public int offset(int number) {
    return reads.offset(number);
  }

  @Override
  public int segmentShift() {
    return reads.segmentShift();
  }

  @Override
  public boolean ordered() {
    return reads.ordered();
  }

  @Override
  public void verify() {
    reads.verify();
  }
}
