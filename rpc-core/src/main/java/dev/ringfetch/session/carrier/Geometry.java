package dev.ringfetch.session.carrier;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;

/**
 * The parameters of a session that both sides have agreed on.
 *
 * @param requestRingLength in bytes.
 * @param responseRingLength in bytes.
 * @param maxFrameLength in bytes.
 * @param maxStreams calls under way at once.
 * @param epoch salt of tags and commit words.
 * @param requestPosition at which the request ring starts, in slots.
 * @param responsePosition at which the response ring starts, in slots.
 */
public record Geometry(
    int requestRingLength,
    int responseRingLength,
    int maxFrameLength,
    int maxStreams,
    long epoch,
    long requestPosition,
    long responsePosition) {
  /** Stores where both rings start in zeroed memory: nothing is consumed. */
  public void prepare(MemoryRegion memory) {
    memory.putLong(
        ArenaDescriptor.CLIENT_CONTROL_OFFSET + ControlDescriptor.CONSUMED_OFFSET,
        responsePosition);
    memory.putLong(
        ArenaDescriptor.SERVER_CONTROL_OFFSET + ControlDescriptor.CONSUMED_OFFSET, requestPosition);
    memory.fullFence();
  }
}
