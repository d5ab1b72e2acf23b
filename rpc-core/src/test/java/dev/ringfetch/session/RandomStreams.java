package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntSupplier;

/**
 * Streams of {@link SessionRandomTest}: what both ends write, read, cancel and end is drawn, and
 * each message is told from all others by its bytes. Nothing is lost, doubled or out of order, and
 * what is under way stays within a window and a message.
 */
final class RandomStreams {
  private static final int MAX_UNREAD = 40; // messages that an end writes before the other reads
  private static final int METHOD = 5;
  private static final int LATE = 4;

  private final SessionSteps steps;
  private final Random random;
  private final IntSupplier lengths;
  private final List<Client> clients = new ArrayList<>();
  private final List<Server> servers = new ArrayList<>();
  private int longest;

  RandomStreams(SessionSteps steps, Random random, IntSupplier lengths) {
    this.steps = steps;
    this.random = random;
    this.lengths = lengths;
  }

  int count() {
    return clients.size();
  }

  /**
   * Begins a stream, if there is room for one.
   *
   * @param timeoutNs or {@link Stream#NO_DEADLINE}.
   */
  void begin(long timeoutNs) {
    final ClientStream stream = steps.client.open();
    if (stream == null) {
      return;
    }
    final boolean timed = timeoutNs != Stream.NO_DEADLINE;
    final long deadlineNs = timed ? steps.nowNs() + timeoutNs : Stream.NO_DEADLINE;
    final UnitBuffer bytes = new UnitBuffer();
    if (timed) {
      bytes.addLong(timeoutNs);
    }
    bytes.addLong(clients.size());
    stream.prepareFlow(
        () -> {},
        deadlineNs,
        1024 * 1024,
        new Unit(timed ? PREFIX | DEADLINE : PREFIX, METHOD, bytes));
    clients.add(new Client(stream, deadlineNs));
    steps.client.send(stream);
  }

  /** The server has taken a request that is the first unit of a stream. */
  void accept(SessionSteps.ServerCall call) {
    servers.add(new Server(call.stream, call.cancels > 0));
  }

  /** An end of each side does something. */
  void step(boolean mayCancel) {
    if (!clients.isEmpty()) {
      clients.get(random.nextInt(clients.size())).step(mayCancel);
    }
    if (!servers.isEmpty()) {
      servers.get(random.nextInt(servers.size())).step();
    }
  }

  /** Every end reads what is there, and ends what it may. True when that was anything. */
  boolean finish() {
    boolean moved = false;
    for (final Client client : clients) {
      moved |= client.finish();
    }
    for (final Server server : List.copyOf(servers)) {
      moved |= server.finish();
    }
    return moved;
  }

  /** At rest: every stream has ended, rightly. */
  void check() {
    for (int i = 0; i < clients.size(); i++) {
      clients.get(i).check("stream " + i);
    }
    assertEquals(0, servers.size(), "ends at the server");
    assertEquals(0, steps.server.held.abandoned(), "abandoned");
    assertEquals(0, steps.server.heldLength(), "held");
  }

  /** What both ends have in common. */
  private abstract class End {
    final Session session;
    final Stream stream;
    final Flow flow;
    final List<byte[]> written = new ArrayList<>();
    End peer;
    int read;
    boolean finished; // writes no more
    Unit last; // of the peer

    End(Session session, Stream stream) {
      this.session = session;
      this.stream = stream;
      this.flow = stream.flow;
    }

    final void write(int flags) {
      final byte[] bytes = new byte[(flags & MESSAGE) == 0 ? 0 : lengths.getAsInt()];
      random.nextBytes(bytes);
      if ((flags & MESSAGE) != 0) {
        written.add(bytes);
        longest = Math.max(longest, bytes.length);
      }
      finished = (flags & SUFFIX) != 0;
      session.write(stream, FlowSteps.unit(flags, 0, bytes));
      final long underWay = FlowRules.underWay(flow);
      assertTrue(
          underWay <= FlowRules.peerWindow(flow) + FlowRules.cost(MESSAGE, longest),
          "under way " + underWay);
    }

    final void writeSome() {
      final int unread = written.size() - (peer == null ? 0 : peer.read);
      if (!finished && unread < MAX_UNREAD) {
        write(random.nextInt(20) == 0 ? MESSAGE | SUFFIX : MESSAGE);
      }
    }

    final boolean readOne() {
      final Unit unit = flow.peek();
      if (unit == null) {
        return false;
      }
      flow.remove();
      session.consumed(stream, unit);
      assertNull(last, "a unit after the last");
      if (unit.has(MESSAGE)) {
        assertTrue(read < peer.written.size(), "a message that was not written");
        assertArrayEquals(peer.written.get(read), FlowSteps.bytesOf(unit), "message " + read);
        read++;
      }
      if (unit.has(SUFFIX | CLOSE)) {
        last = unit;
      }
      return true;
    }

    final boolean readAll() {
      boolean any = false;
      while (readOne()) {
        any = true;
      }
      return any;
    }
  }

  private final class Client extends End {
    private final long deadlineNs;
    private boolean cancelled;

    Client(ClientStream stream, long deadlineNs) {
      super(steps.client, stream);
      this.deadlineNs = deadlineNs;
    }

    private boolean isOver() {
      return cancelled || flow.outcome() != null;
    }

    void step(boolean mayCancel) {
      if (isOver()) {
        return;
      }
      switch (random.nextInt(mayCancel ? 31 : 30)) {
        case 30 -> cancel();
        case 29, 28, 27, 26, 25, 24, 23, 22, 21, 20 -> readOne();
        default -> writeSome();
      }
    }

    private void cancel() {
      cancelled = true;
      steps.client.cancel((ClientStream) stream);
    }

    boolean finish() {
      if (cancelled) {
        return false;
      }
      boolean moved = readAll();
      if (!finished && flow.outcome() == null) {
        write(SUFFIX);
        moved = true;
      }
      return moved;
    }

    void check(String what) {
      assertTrue(isOver(), what + " was left behind");
      if (cancelled) {
        return;
      }
      if (flow.outcome() == Outcome.DEADLINE_EXCEEDED) {
        assertTrue(deadlineNs <= steps.nowNs(), what);
        return;
      }
      assertEquals(Outcome.ANSWERED, flow.outcome(), what);
      assertNotNull(last, what);
      if (last.has(CLOSE)) {
        assertEquals(LATE, last.code(), what);
        assertTrue(deadlineNs != Stream.NO_DEADLINE, what);
        return;
      }
      assertTrue(peer.finished, what);
      assertEquals(peer.written.size(), read, what + ": messages of the server");
    }
  }

  private final class Server extends End implements ServerStream.Listener {
    private final ServerStream served;
    private boolean cancelled;

    Server(ServerStream served, boolean cancelled) {
      super(steps.server, served);
      this.served = served;
      this.cancelled = cancelled;
      final Unit first = flow.peek();
      flow.remove();
      session.consumed(stream, first);
      final int offset = first.has(DEADLINE) ? Long.BYTES : 0;
      final Client client = clients.get((int) first.bytes().getLong(offset));
      assertNull(client.peer, "a stream that came twice");
      client.peer = this;
      peer = client;
      served.listener(this);
    }

    @Override
    public void onCancelled() {
      assertFalse(cancelled, "cancelled twice");
      assertFalse(flow.isSent(), "cancelled when all was sent");
      cancelled = true;
    }

    @Override
    public void onFlow() {}

    void step() {
      switch (random.nextInt(30)) {
        case 0 -> lookForEnd();
        case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 -> readOne();
        default -> writeSome();
      }
    }

    /** Lets go some time after a cancel; goes on until then, for nobody. */
    private boolean lookForEnd() {
      if (cancelled) {
        steps.server.release(served);
        servers.remove(this);
        return true;
      }
      if (flow.isSent()) {
        servers.remove(this);
        return true;
      }
      return false;
    }

    boolean finish() {
      boolean moved = readAll();
      if (last != null && !finished) {
        assertEquals(peer.written.size(), read, "messages of the client");
        write(SUFFIX);
        moved = true;
      }
      return lookForEnd() || moved;
    }
  }
}
