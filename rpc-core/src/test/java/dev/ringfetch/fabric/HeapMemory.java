package dev.ringfetch.fabric;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Memory of this process that one side of a connection has registered. */
public final class HeapMemory implements RegisteredMemory {
  private final DirectRegion heap;
  private final MemoryRegion view;
  private final int number;
  private volatile boolean settled;
  private volatile boolean kept;

  /**
   * Creates it.
   *
   * @param heap what the peer reaches.
   * @param view the same as its owner reaches it.
   * @param number of it among those of its connection's side.
   */
  public HeapMemory(DirectRegion heap, MemoryRegion view, int number) {
    this.heap = heap;
    this.view = view;
    this.number = number;
  }

  /** Memory of a length that a queue pair registers, or none. */
  public static DirectRegion allocate(int length) {
    WorkRequests.checkLength(length);
    return new DirectRegion(length);
  }

  /** The memory that a descriptor leads to. */
  public static HeapMemory find(List<HeapMemory> registered, byte[] descriptor) throws IOException {
    if (descriptor.length == Integer.BYTES) {
      final int number = ByteBuffer.wrap(descriptor).getInt();
      if (number >= 0 && number < registered.size() && !registered.get(number).settled) {
        return registered.get(number);
      }
    }
    throw new IOException("no such memory");
  }

  /** What the peer reaches. */
  public DirectRegion heap() {
    return heap;
  }

  /** True when no descriptor leads here any more. */
  public boolean isSettled() {
    return settled;
  }

  /** True when it is not given back at once. */
  public boolean isKept() {
    return kept;
  }

  @Override
  public MemoryRegion region() {
    return view;
  }

  @Override
  public byte[] descriptor() {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }

  @Override
  public ByteBuffer buffer(int offset, int length) {
    return heap.slice(offset, length);
  }

  @Override
  public void settled() {
    settled = true;
  }

  @Override
  public void keep() {
    kept = true;
  }
}
