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
  private static final int CODE = 0xC0DE;
  private static final int CONTROL = ArenaDescriptor.SERVER_CONTROL_OFFSET;
  private static final int WRITERS_CONTROL = ArenaDescriptor.CLIENT_CONTROL_OFFSET;
  private static final int ALIKE = 40; // bytes: the first line, and the commit word in the next
  private static final int MAX_HOLD_NS = 50_000;

  private final Timeline timeline;
  private final SplittableRandom random;
  private final SimNetwork network;
  private final SimFabric owner;
  private final QueuePair writing;
  private final QueuePair reading;
  private final RingWriter writer;
  private final RingPoller poller;
  private final RingFetcher fetcher;
  private final ControlFlyweight line; // the reader's
  private final ControlFlyweight told; // the same as the writer sees it
  private final ControlFlyweight writersLine; // the writer's
  private final int ringLength;
  private final boolean alike; // each frame is as long as that of the lap before in its place
  private final long epoch;
  private long lineConsumed;
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
    alike = seed % 3 == 0;
    epoch = random.nextLong();
    final long start = random.nextLong();

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
    reading.memory().putLongRelease(CONTROL + ControlDescriptor.CONSUMED_OFFSET, start);
    while (arrived[0] == null) {
      timeline.runNext();
      arrivals.poll();
    }
    writing = arrived[0];
    line = new ControlFlyweight(reading, CONTROL);
    told = new ControlFlyweight(writing, CONTROL);
    writersLine = new ControlFlyweight(writing, WRITERS_CONTROL);
    writer = new RingWriter(writing, OFFSET, ringLength, epoch, start, told);
    poller = new RingPoller(reading, OFFSET, ringLength, epoch, start, line);
    fetcher = new RingFetcher(reading, poller, OFFSET, ringLength, WRITERS_CONTROL, ringLength);
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

  private byte[] payload(int number) {
    SplittableRandom content = new SplittableRandom(number);
    byte[] payload =
        new byte[alike ? ALIKE : content.nextInt(ringLength - FrameDescriptor.OVERHEAD)];
    content.nextBytes(payload);
    return payload;
  }

  private void write(int frames) {
    if (written == frames) {
      return;
    }
    byte[] payload = payload(written);
    int credit = writer.write(written, FLAGS, CODE, ~written, payload, 0, payload.length);
    wrong |= credit == RingWriter.PROTOCOL_VIOLATION;
    if (credit == RingWriter.WRITTEN) {
      written++;
      writersLine.consumed(written); // anything that grows
    }
  }

  private boolean onFrame(
      int streamId, int flags, int code, int ack, MemoryRegion region, int offset, int length) {
    byte[] payload = new byte[length];
    region.getBytes(offset, payload, 0, length);
    wrong |=
        streamId != taken
            || flags != FLAGS
            || code != CODE
            || ack != ~taken
            || taken >= written
            || !Arrays.equals(payload, payload(taken));
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
    take(poller.poll(this::onFrame, 4));
  }

  private void take(int frames) {
    wrong |= frames == RingPoller.PROTOCOL_VIOLATION;
    poller.tellConsumed();
    line.publish();
  }

  /** Writes frames where they are, and has a card fetch them. */
  void fetch(int frames) {
    line.fetching(true);
    run(frames, () -> write(frames), this::read);
  }

  /** Has them published or fetched, as the reader likes at the moment. */
  void alternate(int frames) {
    run(
        frames,
        () -> {
          write(frames);
          if (random.nextBoolean() && !told.fetching()) {
            writer.publish();
          }
        },
        () -> {
          if (random.nextInt(16) == 0) {
            line.fetching(random.nextBoolean());
            line.publish();
          }
          read();
          poll();
        });
  }

  private void read() {
    if (fetcher.isPending()) {
      return;
    }
    take(fetcher.take(this::onFrame, 1 + random.nextInt(8)));
    if (random.nextBoolean() && !fetcher.hasFrame()) {
      return;
    }
    wrong |= fetcher.post(random.nextBoolean()) != QueuePair.POSTED;
  }

  private void complete() {
    if (fetcher.poll() && fetcher.hasLine()) {
      wrong |= fetcher.lineConsumed() - lineConsumed < 0 || fetcher.lineConsumed() > written;
      lineConsumed = fetcher.lineConsumed();
    }
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

  /** How often both words of a frame were there, and the frame was not whole. */
  long torn() {
    return poller.torn();
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
