package dev.ringfetch.ring;

import dev.ringfetch.fabric.MemoryRegion;
import java.util.ArrayList;
import java.util.List;

/** A handler that does not take frames of one length now, and keeps the lengths of the others. */
final class PickyHandler implements RingPoller.FrameHandler {
  final List<Integer> lengths = new ArrayList<>();
  int refusedLength;

  PickyHandler(int refusedLength) {
    this.refusedLength = refusedLength;
  }

  @Override
  public boolean mayTake(int streamId, int flags, MemoryRegion region, int offset, int length) {
    return length != refusedLength;
  }

  @Override
  public boolean onFrame(
      int streamId, int flags, int code, int ack, MemoryRegion region, int offset, int length) {
    lengths.add(length);
    return true;
  }
}
