package dev.ringfetch.ring;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.shm.SharedSlices;
import java.util.Arrays;

/**
 * Both ends of one ring over mapped memory, and frames of which every byte is known: each reports
 * the lap that it was written in, in its header and in its whole payload.
 */
class RingSides {
  private static final int CONTROL = 0;
  private static final int RING = 2 * ControlDescriptor.CONTROL_LENGTH;
  private static final int MAX_SLOTS = 4;
  private static final int TRIES = 30;
  private static final long EPOCH = 0x1234_5678_9ABC_DEF0L;
  private static final long START = -2L; // overflows after two slots
  private static final SharedSlices SLICES =
      new SharedSlices(RING + MAX_SLOTS * FrameDescriptor.SLOT_LENGTH);

  private final RingWriter writer;
  private final RingPoller poller;
  private final byte[] payload =
      new byte[FrameDescriptor.maxPayload(MAX_SLOTS)]; // the writer's, of the frame before it
  private final byte[] copy = new byte[FrameDescriptor.maxPayload(MAX_SLOTS)]; // the reader's

  private int awaitedLap;
  private int whole;

  RingSides(int slots) {
    final HeapFabric fabric = SLICES.connect();
    final int length = slots * FrameDescriptor.SLOT_LENGTH;
    final ControlFlyweight told = new ControlFlyweight(fabric.server(), CONTROL);
    told.consumed(START);
    writer =
        new RingWriter(
            fabric.client(),
            RING,
            length,
            EPOCH,
            START,
            new ControlFlyweight(fabric.client(), CONTROL));
    poller = new RingPoller(fabric.server(), RING, length, EPOCH, START, told);
  }

  /** Writes a frame of this many slots, of which every field is made from the lap. */
  final int write(int lap, int slots) {
    final int length = FrameDescriptor.maxPayload(slots);
    Arrays.fill(payload, 0, length, (byte) lap);
    return writer.write(lap, lap, lap, lap, payload, 0, length);
  }

  /**
   * Polls.
   *
   * @param lap in which the frames were written, if what comes is right.
   * @return how many frames were consumed, padding included.
   */
  final int poll(int lap, int limit) {
    awaitedLap = lap;
    return poller.poll(this::onFrame, limit);
  }

  /** Polls until something is there, so that it is met when it has just come. */
  final int pollAWhile(int lap, int limit) {
    int frames = 0;
    for (int left = TRIES; left > 0 && frames == 0; left--) {
      frames = poll(lap, limit);
    }
    return frames;
  }

  private boolean onFrame(
      int streamId, int flags, int code, int ack, MemoryRegion region, int offset, int length) {
    region.getBytes(offset, copy, 0, length);
    boolean right =
        streamId == awaitedLap && flags == awaitedLap && code == awaitedLap && ack == awaitedLap;
    for (int i = 0; i < length; i++) {
      right &= copy[i] == (byte) awaitedLap;
    }
    whole += right ? 1 : 0;
    return true;
  }

  /** Tells the writer what was consumed. */
  final void tellConsumed() {
    poller.tellConsumed();
  }

  /** How many frames came with every byte right. */
  final int whole() {
    return whole;
  }

  /** Takes a lap's frames, before the actors begin. */
  final void take(int lap, int slots) {
    if (write(lap, slots) != RingWriter.WRITTEN || poll(lap, 1) != 1) {
      throw new IllegalStateException("lap " + lap);
    }
    tellConsumed();
    whole = 0;
  }
}
