package dev.ringfetch.system;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;
import io.grpc.Channel;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A client that opens sessions by the rules and then keeps none. It never rests. */
final class HostilePeer {
  private static final int UNIT = PREFIX | MESSAGE | SUFFIX;
  private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** In what way it misbehaves. */
  enum Manner {
    /** Frames of random fields. */
    RANDOM,
    /** Frames that are almost right. */
    CRAFTED,
    /** Takes the memory away while the server uses it. */
    TRUNCATING,
    /** Frames of earlier laps, as they were or with a new position. */
    REPLAYING,
    /** Calls by the rules, whose bytes another thread changes while they are read. */
    CHANGING,
    /** Asks, and never takes an answer. */
    SILENT,
    /** Opens as many sessions as there are to be had. */
    FLOODING,
    /** Rings without cause, and talks rubbish at the socket where sessions are taken up. */
    RINGING
  }

  private final Manner manner;
  private final Channel channel;
  private final Path directory;
  private final Fabric fabric;
  private final Doorbell doorbell;
  private final Random random;
  private int number;
  private boolean told;
  private final AtomicLong sessions = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();
  private final AtomicLong frames = new AtomicLong();

  HostilePeer(Path directory, int port, Manner manner, long seed) throws IOException {
    this.manner = manner;
    this.directory = directory;
    this.random = new Random(seed);
    channel =
        Grpc.newChannelBuilder("localhost:" + port, InsecureChannelCredentials.create()).build();
    fabric =
        ServiceLoader.load(FabricProvider.class)
            .findFirst()
            .orElseThrow()
            .open(new FabricContext().directory(directory));
    doorbell = fabric.openDoorbell();
  }

  /** Misbehaves until the input ends; says once that it does, and how far it is when asked. */
  static void run(Path directory, int port, Manner manner) throws IOException {
    final long seed = Long.getLong("ringfetch.seed", 1);
    final HostilePeer peer = new HostilePeer(directory, port, manner, seed);
    final Thread thread =
        new Thread(
            () -> {
              try {
                while (true) {
                  peer.turn();
                  if (peer.sessions.get() > 0 && !peer.told) {
                    peer.told = true;
                    System.out.println("hostile seed=" + seed);
                  }
                }
              } catch (IOException e) {
                throw new IllegalStateException(e); // told by the thread's handler
              }
            },
            "hostile");
    thread.setDaemon(true);
    thread.start();
    final BufferedReader input = SystemChild.input();
    String line;
    while ((line = input.readLine()) != null) {
      switch (line) {
        case "sessions" -> System.out.println(peer.sessions);
        case "refusals" -> System.out.println(peer.refusals);
        case "frames" -> System.out.println(peer.frames);
        default -> throw new IllegalArgumentException("line=" + line);
      }
    }
  }

  /** Opens a session and does its worst with it. */
  void turn() throws IOException {
    final HostileSession session;
    try {
      session = HostileSession.open(channel, fabric, doorbell, directory);
    } catch (IOException e) {
      refusals.incrementAndGet();
      return;
    }
    sessions.incrementAndGet();
    try (session) {
      final long startNs = System.nanoTime();
      switch (manner) {
        case FLOODING -> flood();
        case TRUNCATING -> truncate(session);
        case CHANGING -> change(session);
        default -> {
          while (!session.hasEnded() && System.nanoTime() - startNs < TURN_NS) {
            misbehave(session);
          }
        }
      }
    } catch (InternalError e) {
      // Its own memory, of which it has cut off what it goes on to write.
    }
  }

  private void misbehave(HostileSession session) throws IOException {
    switch (manner) {
      case RANDOM ->
          write(
              session,
              random.nextInt(),
              random.nextInt(),
              session.answer.getMethodsCount(),
              random.nextInt(),
              random.nextInt(300));
      case CRAFTED -> craft(session);
      case REPLAYING -> {
        call(session);
        call(session);
        awaitConsumed(session);
        session.ring.replay(1 + random.nextInt(8), random.nextBoolean());
        session.queuePair.ringDoorbell();
        awaitConsumed(session);
      }
      case SILENT -> {
        if (number % 1_000 < 900) {
          call(session);
        } else {
          number++;
        }
      }
      default -> ring(session);
    }
  }

  /** A call as every client makes it. */
  private void call(HostileSession session) throws IOException {
    final int index = 1 + number % session.answer.getMaxStreams();
    final int generation = number / session.answer.getMaxStreams();
    number++;
    final byte[] payload = HashIndex.request(number).toByteArray();
    final int ack = (int) session.answer.getResponsePosition();
    final int method = session.answer.getMethodsList().indexOf("ringfetch.index.v1.Index/Get");
    awaitRoom(session, payload.length);
    session.ring.write((generation << 16) | index, UNIT, method, ack, payload);
    frames.incrementAndGet();
    session.queuePair.ringDoorbell();
  }

  private void write(HostileSession session, int id, int flags, int code, int ack, int length) {
    final byte[] payload = new byte[length];
    random.nextBytes(payload);
    session.ring.write(id, flags, code, ack, payload);
    frames.incrementAndGet();
    session.queuePair.ringDoorbell();
  }

  /** A frame with one thing wrong, or none, after some that are right. */
  private void craft(HostileSession session) throws IOException {
    for (int i = 0; i < 4; i++) {
      call(session);
    }
    final int id = (number + 7) % 8_000 + 1;
    final int ack = (int) session.answer.getResponsePosition();
    switch (random.nextInt(12)) {
      case 0 -> session.ring.announce(Integer.MAX_VALUE);
      case 1 -> session.ring.announce(-1);
      case 2 -> session.ring.announce(session.ring.maxPayload());
      case 3 -> write(session, 0, UNIT, 0, ack, 8);
      case 4 -> write(session, id, UNIT | WINDOW_UPDATE, 0, ack, 8);
      case 5 -> write(session, id, UNIT | DEADLINE | METADATA | NAMED, 0, ack, 40);
      case 6 -> write(session, id, UNIT | NAMED, 0xFFFF, ack, 300);
      case 7 -> write(session, id, UNIT | PARTIAL, 0, ack, 40);
      case 8 -> write(session, id, CONTINUATION, 0, ack, 40);
      case 9 -> write(session, 1, CLOSE, 0, ack, 0);
      case 10 -> write(session, id, UNIT, 0, ack + 1_000, 8);
      default ->
          session
              .queuePair
              .memory()
              .putLongRelease(
                  ArenaDescriptor.CLIENT_CONTROL_OFFSET + ControlDescriptor.CONSUMED_OFFSET,
                  random.nextLong());
    }
    session.queuePair.ringDoorbell();
    awaitConsumed(session);
  }

  private void awaitRoom(HostileSession session, int length) throws IOException {
    final long slots = session.answer.getGeometry().getRequestRingBytes() / 64;
    final long startNs = System.nanoTime();
    while (session.ring.position() + session.ring.needed(length) - session.consumed() > slots
        && !session.hasEnded()
        && System.nanoTime() - startNs < TURN_NS) {
      Thread.onSpinWait();
    }
  }

  /** Lets the server come to what was written, for a while. */
  private static void awaitConsumed(HostileSession session) throws IOException {
    final long startNs = System.nanoTime();
    while (session.consumed() != session.ring.position()
        && !session.hasEnded()
        && System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(1)) {
      Thread.onSpinWait();
    }
  }

  private void truncate(HostileSession session) throws IOException {
    for (int i = 0; i < 20; i++) {
      call(session);
    }
    session.file.truncate(random.nextBoolean() ? 0 : 4096L * random.nextInt(8));
    final long startNs = System.nanoTime();
    while (!session.hasEnded() && System.nanoTime() - startNs < TURN_NS) {
      session.queuePair.ringDoorbell();
    }
  }

  private void change(HostileSession session) throws IOException {
    final MemoryRegion memory = session.queuePair.memory();
    final int ring = session.answer.getGeometry().getRequestRingBytes();
    final Random own = new Random(random.nextLong());
    final boolean[] over = {false};
    final Thread changer =
        new Thread(
            () -> {
              while (true) {
                synchronized (over) {
                  if (over[0]) {
                    return;
                  }
                }
                final int at = ArenaDescriptor.REQUEST_RING_OFFSET + 8 * own.nextInt(ring / 64);
                memory.putLong(at, memory.getLong(at) ^ (1L << own.nextInt(64)));
              }
            },
            "changer");
    changer.setDaemon(true);
    changer.start();
    final long startNs = System.nanoTime();
    while (!session.hasEnded() && System.nanoTime() - startNs < TURN_NS) {
      call(session);
    }
    synchronized (over) {
      over[0] = true;
    }
    try {
      changer.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void flood() throws IOException {
    final List<HostileSession> held = new ArrayList<>();
    try {
      while (held.size() < 2_000) {
        held.add(HostileSession.open(channel, fabric, doorbell, directory));
        sessions.incrementAndGet();
      }
    } catch (IOException e) {
      refusals.incrementAndGet();
    }
    for (final HostileSession session : held) {
      session.close();
    }
  }

  private void ring(HostileSession session) throws IOException {
    for (int i = 0; i < 50; i++) {
      session.queuePair.ringDoorbell();
    }
    final byte[] rubbish = new byte[1 + random.nextInt(100)];
    random.nextBytes(rubbish);
    try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      socket.connect(UnixDomainSocketAddress.of(session.bell));
      socket.write(ByteBuffer.wrap(rubbish));
    } catch (IOException e) {
      refusals.incrementAndGet(); // there are as many strangers at that socket as it takes
    }
  }
}
