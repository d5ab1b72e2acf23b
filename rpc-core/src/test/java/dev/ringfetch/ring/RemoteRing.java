package dev.ringfetch.ring;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.SimNetwork;
import dev.ringfetch.fabric.sim.Timeline;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A ring between two processes, each with memory of its own, step by step: frames are published and
 * placed by a network card, or stored and fetched by one. Credit comes back in the control line.
 */
final class RemoteRing {
  private static final int FLAGS = FrameDescriptor.MESSAGE;
  private static final int OFFSET = ArenaDescriptor.REQUEST_RING_OFFSET;
  private static final int CONTROL = ArenaDescriptor.SERVER_CONTROL_OFFSET;
  private static final int MAX_HOLD_NS = 50_000;

  private final Timeline timeline;
  private final SplittableRandom random;
  private final SimNetwork network;
  private final SimFabric owner;
  private final QueuePair writing;
  private final QueuePair reading;
  private final RingWriter writer;
  private final RingPoller poller;
  private final ControlFlyweight consumed;
  private final int ringLength;
  private final long epoch;
  private long fetchPosition;
  private boolean fetching;
  private boolean wrong;
  private int written;
  private int taken;

  RemoteRing(long seed, SimContext options) throws IOException {
    timeline = new Timeline(seed);
    random = timeline.random();
    network = new SimNetwork(timeline, options.loadStore(false).preemption(this::machine));
    owner = network.open();
    SimFabric peer = network.open();
    ringLength = 128 << random.nextInt(5);
    epoch = random.nextLong();
    final long start = random.nextLong();
    fetchPosition = start;

    Doorbell arrivals = owner.openDoorbell();
    QueuePair[] arrived = new QueuePair[1];
    byte[] token = new byte[16];
    Fabric.Offer offer =
        owner.offer(
            arrivals,
            peer.hint(),
            ArenaDescriptor.length(ringLength, ringLength),
            token,
            queuePair -> arrived[0] = queuePair);
    offer.memory().putLongRelease(CONTROL + ControlDescriptor.CONSUMED_OFFSET, start);
    reading = peer.connect(peer.openDoorbell(), offer.descriptor(), token, 0);
    while (arrived[0] == null) {
      timeline.runNext();
      arrivals.poll();
    }
    writing = arrived[0];
    consumed = new ControlFlyweight(reading, CONTROL);
    writer =
        new RingWriter(
            writing, OFFSET, ringLength, epoch, start, new ControlFlyweight(writing, CONTROL));
    poller = new RingPoller(reading.memory(), OFFSET, ringLength, epoch, start, consumed);
  }

  /** What the machine does by itself, while a thread is within a step. */
  private void machine() {
    timeline.pass(random.nextInt(200));
    if (timeline.isDue()) {
      timeline.runNext();
    }
    for (int i = random.nextInt(8); i > 0; i--) {
      network.regions().get(random.nextInt(network.regions().size())).drainOne();
    }
  }

  private static byte[] payload(int number, int ringLength) {
    SplittableRandom content = new SplittableRandom(number);
    byte[] payload = new byte[content.nextInt(ringLength - FrameDescriptor.OVERHEAD)];
    content.nextBytes(payload);
    return payload;
  }

  private void write(int frames) {
    if (written == frames) {
      return;
    }
    byte[] payload = payload(written, ringLength);
    if (writer.write(written, FLAGS, 0, 0, payload, 0, payload.length) == RingWriter.WRITTEN) {
      written++;
    }
  }

  private boolean take(int streamId, int flags, byte[] payload) {
    wrong |=
        streamId != taken
            || flags != FLAGS
            || taken >= written
            || !Arrays.equals(payload, payload(taken, ringLength));
    taken++;
    return true;
  }

  /** Writes and publishes frames, and polls what a card has placed. */
  void place(int frames) {
    run(
        frames,
        () -> {
          write(frames);
          if (random.nextBoolean()) {
            writer.publish();
          }
        },
        this::poll);
  }

  private void poll() {
    int polled =
        poller.poll(
            (streamId, flags, code, ack, region, offset, length) -> {
              byte[] payload = new byte[length];
              region.getBytes(offset, payload, 0, length);
              return take(streamId, flags, payload);
            },
            4);
    wrong |= polled == RingPoller.PROTOCOL_VIOLATION;
    poller.tellConsumed();
  }

  /** Writes frames where they are, and has a card read them. */
  void fetch(int frames) {
    run(frames, () -> write(frames), this::read);
  }

  /** Reads the ring from the head on, word 0 first; what is there counts if both words match. */
  private void read() {
    if (fetching) {
      return;
    }
    fetching = true;
    int index = (int) (fetchPosition & (ringLength / FrameDescriptor.SLOT_LENGTH - 1));
    int offset = OFFSET + index * FrameDescriptor.SLOT_LENGTH;
    int length = ringLength - index * FrameDescriptor.SLOT_LENGTH;
    reading.read(reading.remote(), offset, reading.memory(), offset, length, 0, 1);
  }

  private void complete() {
    reading.completions().poll((id, status, value) -> fetched(), 1);
  }

  private void fetched() {
    fetching = false;
    MemoryRegion memory = reading.memory();
    int slots = ringLength / FrameDescriptor.SLOT_LENGTH;
    int index = (int) (fetchPosition & (slots - 1));
    int frame = OFFSET + index * FrameDescriptor.SLOT_LENGTH;
    long word0 = memory.getLong(frame);
    int length = (int) word0;
    if ((int) (word0 >>> 32) != FrameDescriptor.tag(epoch, fetchPosition)
        || length < 0
        || length > FrameDescriptor.maxPayload(slots - index)) {
      return;
    }
    int end = frame + FrameDescriptor.slots(length) * FrameDescriptor.SLOT_LENGTH;
    if (memory.getLong(end - FrameDescriptor.COMMIT_LENGTH)
        != FrameDescriptor.commitWord(epoch, fetchPosition)) {
      return;
    }
    long word1 = memory.getLong(frame + FrameDescriptor.STREAM_ID_OFFSET);
    int flags = (int) (word1 >>> 32) & 0xFFFF;
    if (flags != FrameDescriptor.PAD) {
      byte[] payload = new byte[length];
      memory.getBytes(frame + FrameDescriptor.PAYLOAD_OFFSET, payload, 0, length);
      take((int) word1, flags, payload);
    }
    fetchPosition += FrameDescriptor.slots(length);
    consumed.consumed(fetchPosition);
  }

  private void run(int frames, Runnable write, Runnable take) {
    int steps = 0;
    while (taken < frames && !wrong) {
      if (++steps > 1_000 * frames) {
        throw new AssertionError("frames do not come: " + this);
      }
      switch (random.nextInt(8)) {
        case 0, 1 -> write.run();
        case 2, 3 -> take.run();
        case 4 -> complete();
        case 5 -> {
          if (random.nextInt(50) == 0) {
            owner.holdWritesUntil(timeline.nowNs() + random.nextInt(MAX_HOLD_NS));
          }
        }
        default -> {
          if (!timeline.isDue() && random.nextInt(4) == 0) {
            timeline.passUntil(Math.min(timeline.nextNs(), timeline.nowNs() + MAX_HOLD_NS));
          }
          machine();
        }
      }
    }
  }

  /** True when a frame was taken that was not written so, or not then. */
  boolean isWrong() {
    return wrong;
  }

  @Override
  public String toString() {
    return "seed=" + timeline.seed() + " ringLength=" + ringLength + " taken=" + taken;
  }
}
