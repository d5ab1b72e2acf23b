package dev.ringfetch.benchmarks.parts;

import dev.ringfetch.benchmarks.stages.ShmPair;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.SessionContext;
import java.io.IOException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Frames of one slot into a ring in shared memory, and out of it, in one thread. */
@State(Scope.Thread)
public class RingParts implements RingPoller.FrameHandler {
  private static final int RING_LENGTH = SessionContext.REQUEST_RING_LENGTH_DEFAULT;
  private static final int PAYLOAD_LENGTH = 32;
  private static final long EPOCH = 0x5EED_5EED_5EED_5EEDL; // no position: zeros are no frame
  private static final int LIMIT = 64;
  private static final int STREAM_ID = 1;
  private static final int FLAGS =
      FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;

  private final byte[] payload = new byte[PAYLOAD_LENGTH];
  private final byte[] copy = new byte[PAYLOAD_LENGTH];
  private ShmPair pair;
  private RingWriter writer;
  private RingPoller poller;
  private RingWriter alone;
  private RingPoller empty;

  /** Makes two rings: one that is written and polled, another whose ends do not meet. */
  @Setup
  public void setUp() throws IOException {
    pair = ShmPair.open(ArenaDescriptor.length(RING_LENGTH, RING_LENGTH));
    final ControlFlyweight ofServer =
        new ControlFlyweight(pair.ofServer(), ArenaDescriptor.SERVER_CONTROL_OFFSET);
    final ControlFlyweight toServer =
        new ControlFlyweight(pair.ofClient(), ArenaDescriptor.SERVER_CONTROL_OFFSET);
    final int first = ArenaDescriptor.REQUEST_RING_OFFSET;
    final int second = ArenaDescriptor.responseRingOffset(RING_LENGTH);
    writer = new RingWriter(pair.ofClient(), first, RING_LENGTH, EPOCH, 0, toServer);
    poller = new RingPoller(pair.ofServer(), first, RING_LENGTH, EPOCH, 0, ofServer);
    alone = new RingWriter(pair.ofClient(), second, RING_LENGTH, EPOCH, 0, toServer);
    empty = new RingPoller(pair.ofServer(), second, RING_LENGTH, ~EPOCH, 0, ofServer); // not its
  }

  /** Ends the connection. */
  @TearDown
  public void tearDown() {
    pair.close();
  }

  /** A frame is written and published, and acknowledged unread. */
  @Benchmark
  public int slotWritten() {
    final int written = write(alone);
    return alone.onAck((int) alone.position()) ? written : RingWriter.PROTOCOL_VIOLATION;
  }

  /** A frame is written, published, found, copied and acknowledged. */
  @Benchmark
  public int slotWrittenAndPolled() {
    final int written = write(writer);
    final int frames = poller.poll(this, LIMIT);
    return writer.onAck((int) poller.position()) ? written + frames : RingWriter.PROTOCOL_VIOLATION;
  }

  /** A look at a slot with nothing in it. */
  @Benchmark
  public int nothingPolled() {
    return empty.poll(this, LIMIT);
  }

  private int write(RingWriter to) {
    final int written = to.write(STREAM_ID, FLAGS, 0, 0, payload, 0, PAYLOAD_LENGTH);
    return written + to.publish();
  }

  /** The payload as it was polled last. */
  byte[] polled() {
    return copy;
  }

  /** The payload that is written next. */
  byte[] payload() {
    return payload;
  }

  @Override
  public boolean onFrame(
      int streamId, int flags, int code, int ack, MemoryRegion region, int offset, int length) {
    region.getBytes(offset, copy, 0, length);
    return streamId == STREAM_ID && flags == FLAGS;
  }
}
