package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;

/** A call with messages in either direction. */
final class SimStreamCall extends SimCall {
  final SimFlow end;
  final SimScript up;
  final SimScript down;

  /** True when the server ends the stream without waiting for the client's last unit. */
  final boolean early;

  private final SimShape shape;
  private Unit last; // of the server, if that is none of its script

  private SimFlow serverEnd;
  private boolean kept;

  /** Both sides' ends begin without reading. */
  private final boolean stopped;

  /**
   * A stream.
   *
   * @param stopped true: neither side reads before it is told to.
   */
  SimStreamCall(
      SimClient client,
      ClientSession session,
      ClientStream stream,
      byte[] request,
      long timeoutNs,
      SimShape shape,
      boolean stopped) {
    super(client, session, stream, request, timeoutNs);
    this.shape = shape;
    this.stopped = stopped;
    final SimSizes sizes = simulation.sizes;
    final SplittableRandom random = new SplittableRandom(Arrays.hashCode(request));
    final boolean whole = !shape.up && !stopped && random.nextInt(8) == 0;
    up = whole ? SimScript.nothing() : script(random, shape.up, false);
    down = script(random, shape.down, true);
    early = !stopped && random.nextInt(3) == 0;
    final boolean message = whole || random.nextInt(3) == 0;
    final int firstFlags = PREFIX | (message ? MESSAGE : 0) | (whole ? SUFFIX : 0);
    final UnitBuffer bytes = new UnitBuffer();
    final Unit first = new Unit(fill(bytes, firstFlags, timeoutNs), 0, bytes);
    final int maxLength = random.nextInt(8) == 0 ? sizes.maxFrameLength() : MAX_INBOUND_LENGTH;
    stream.prepareFlow(this::onFlow, deadlineNs, maxLength, first);
    end = new End(stream, maxLength);
    end.first(first, true);
    end.stop(stopped);
    if (shape.down && simulation.timeline.random().nextBoolean()) {
      end.pause();
    }
  }

  private SimScript script(SplittableRandom random, boolean flood, boolean prefix) {
    return SimScript.of(random, SimShape.lengths(random, simulation.sizes, flood), prefix);
  }

  private void onFlow() {
    end.onFlow();
  }

  /** The server has the request. */
  void accepted(SimFlow server) {
    serverEnd = server;
    server.meet(end);
    server.stop(stopped);
    if (!stopped && simulation.timeline.oneIn(isFlood() ? 2 : 4)) {
      server.pause();
    }
    if (kept) {
      restReader();
    }
  }

  /** The server's end, once it is there. */
  SimFlow server() {
    return serverEnd;
  }

  /** Both sides read from now on. */
  void resume() {
    end.stop(false);
    if (serverEnd != null) {
      serverEnd.stop(false);
    }
  }

  /** True when no writer goes on, because no reader does. */
  boolean isHeldBack() {
    return serverEnd != null
        && (!shape.up || end.isHeldBack())
        && (!shape.down || serverEnd.isHeldBack());
  }

  /** A fault waits for its window to close: it is not cancelled, and its reader may rest. */
  void keep() {
    kept = true;
    restReader();
  }

  boolean isKept() {
    return kept;
  }

  boolean isKept(SimShape shape) {
    return kept && this.shape == shape;
  }

  /** The reader of what is sent most takes nothing for as long as that takes over any fabric. */
  void restReader() {
    if (shape.down) {
      end.pauseForWindow();
    } else if (serverEnd != null) {
      serverEnd.pauseForWindow();
    }
  }

  /** True when more is sent than a window holds. */
  boolean isFlood() {
    return shape != SimShape.SOME;
  }

  @Override
  void start(boolean blocking) {
    client.flows.add(end);
    session.send(stream);
  }

  @Override
  void onCancel() {
    end.over();
  }

  @Override
  void checkAnswer() {
    if (last == null) {
      simulation.check(end.hasAll(), "a stream ended in order, and something is missing");
      simulation.check(executions == 1, "answered after executions=" + executions);
    } else if (last.flags() == CLOSED_BY_SERVER) {
      checkClosed(last.code());
    } else {
      checkRefusal(last.code(), last.bytes());
    }
  }

  @Override
  boolean mayHoldTooMuch(SimSizes sizes) {
    return sizes.isTight() || sizes.cancels() || sizes.deadlines();
  }

  private final class End extends SimFlow {
    End(ClientStream opened, int maxLength) {
      super(client, session, opened, opened.flow(), up, down, maxLength);
    }

    @Override
    boolean mayEnd() {
      return true;
    }

    @Override
    void lookForEnd() {} // with what comes in

    @Override
    boolean isEnd(Unit unit) {
      if (unit.flags() == CLOSED_BY_SERVER || unit.flags() == REFUSED) {
        last = unit;
        return true;
      }
      return false;
    }

    @Override
    void onOutcome(Outcome outcome) {
      over();
      told(outcome);
    }
  }
}
