package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryRegion;

/** Reads of mapped segments: results are live memory. */
@SuppressWarnings("DoNotCallSuggester")
public final class SegmentReads implements Reads {
  /** The segments of index memory as far as they are mapped here. */
  public interface Segments {
    /** Returns a segment, or null if it is not mapped here. Any number may be asked for. */
    MemoryRegion segment(long number);
  }

  /**
   * Creates reads.
   *
   * @param segments the segments, each of {@code 1 << shift} bytes
   * @param shift binary logarithm of a segment's length
   * @param gate memory with the gate word
   * @param gateOffset where the gate word is in it
   */
  public SegmentReads(Segments segments, int shift, MemoryRegion gate, int gateOffset) {}

  @Override
  public void begin() {
    throw new UnsupportedOperationException("body follows");
  }

  @Override
  public int add(long address, int length) {
    throw new UnsupportedOperationException("body follows");
  }

  @Override
  public int execute() {
    throw new UnsupportedOperationException("body follows");
  }

  @Override
  public MemoryRegion region(int number) {
    throw new UnsupportedOperationException("body follows");
  }

  @Override
  public int offset(int number) {
    throw new UnsupportedOperationException("body follows");
  }

  @Override
  public boolean ordered() {
    return true;
  }

  @Override
  public void verify() {
    throw new UnsupportedOperationException("body follows");
  }
}
