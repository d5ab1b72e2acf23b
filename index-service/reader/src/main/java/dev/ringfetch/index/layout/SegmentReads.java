package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import java.util.Arrays;

/**
 * Reads of mapped segments. Results are live memory; fences of the reader order their loads. {@link
 * #execute()} only checks the bounds.
 */
public final class SegmentReads implements Reads {
  /** The mapped segments of index memory. */
  public interface Segments {
    /** Returns a segment, for any argument; null if it is not mapped. */
    MemoryRegion segment(long number);
  }

  private final Segments segments;
  private final int shift;
  private final MemoryRegion gate;
  private final int gateOffset;
  private final MemberGates members; // null if there are none

  private MemoryRegion[] regions = new MemoryRegion[64];
  private int[] offsets = new int[64];
  private int count;
  private boolean unknown;

  /**
   * Creates reads.
   *
   * @param segments the segments, each of {@code 1 << shift} bytes
   * @param shift binary logarithm of a segment's length
   * @param gate memory with the gate word
   * @param gateOffset of the gate word in it
   */
  public SegmentReads(Segments segments, int shift, MemoryRegion gate, int gateOffset) {
    this(segments, shift, gate, gateOffset, null);
  }

  /**
   * Same, for a replicated index.
   *
   * @param members whose gates are checked before memory is verified
   */
  public SegmentReads(
      Segments segments, int shift, MemoryRegion gate, int gateOffset, MemberGates members) {
    this.members = members;
    this.segments = segments;
    this.shift = shift;
    this.gate = gate;
    this.gateOffset = gateOffset;
  }

  @Override
  public void begin() {
    count = 0;
    unknown = false;
  }

  @Override
  public int add(long address, int length) {
    if (count == regions.length) {
      regions = Arrays.copyOf(regions, 2 * count);
      offsets = Arrays.copyOf(offsets, 2 * count);
    }
    if (address == GATE) {
      regions[count] = gate;
      offsets[count] = gateOffset;
      return count++;
    }
    final int offset = (int) address & ((1 << shift) - 1);
    final MemoryRegion region = segments.segment(address >>> shift);
    if (region == null || length > region.length() - offset) {
      unknown = true;
    }
    regions[count] = region;
    offsets[count] = offset;
    return count++;
  }

  @Override
  public int execute() {
    return unknown ? UNKNOWN_ADDRESS : DONE;
  }

  @Override
  public MemoryRegion region(int number) {
    return regions[number];
  }

  @Override
  public int offset(int number) {
    return offsets[number];
  }

  @Override
  public int segmentShift() {
    return shift;
  }

  @Override
  public boolean ordered() {
    return true;
  }

  @Override
  public void verify() {
    if (members != null) {
      members.look();
    }
    gate.verify();
  }

  @Override
  public void absorb(InternalError fault) {
    MemoryFaults.absorb(gate, fault); // without a look at the members, which may itself have failed
  }
}
