package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Calls of many units on both sides of a session that a test drives step by step. */
final class FlowSteps {
  /** With as much cost as fits into a window 64 times. */
  static final int LENGTH = 960;

  static final int IN_WINDOW = 64;
  static final int IN_UPDATE = 16;

  /** More memory than a window, so that the window is what holds back. */
  static final SessionSteps.Sizes WIDE = new SessionSteps.Sizes(256 * 1024, 4096, 8, 1024 * 1024);

  final SessionSteps steps;

  FlowSteps(SessionSteps steps) {
    this.steps = steps;
  }

  static Unit unit(int flags, int code, byte[] bytes) {
    final UnitBuffer buffer = new UnitBuffer();
    buffer.addBytes(bytes, 0, bytes.length);
    return new Unit(flags, code, buffer);
  }

  static byte[] bytesOf(Unit unit) {
    final int start = unit.bytes().offset();
    return Arrays.copyOfRange(unit.bytes().array(), start, start + unit.bytes().length());
  }

  /** Numbers that tell one message from the next. */
  static byte[] message(int length, int seed) {
    final byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i * 31 + seed);
    }
    return bytes;
  }

  /** A call that has begun without a message. */
  Call begin() {
    return begin(Stream.NO_DEADLINE, PREFIX, new byte[0]);
  }

  Call begin(long deadlineNs, int flags, byte[] bytes) {
    final Call call = prepare(deadlineNs, flags, bytes);
    steps.client.send(call.stream);
    return call;
  }

  Call prepare(long deadlineNs, int flags, byte[] bytes) {
    return new Call(steps.client.open(), deadlineNs, unit(flags, 5, bytes));
  }

  /** The only request that has come and was not taken. */
  Served served() {
    return new Served(steps.request().stream);
  }

  /** The server's end of a call, which stays in the line of requests. */
  Served served(int index) {
    return new Served(steps.requests.get(index).stream);
  }

  /** The client's call. */
  final class Call implements ClientStream.FlowListener {
    final ClientStream stream;
    final int id;
    int told;

    private Call(ClientStream stream, long deadlineNs, Unit first) {
      this.stream = stream;
      id = stream.id;
      stream.prepareFlow(this, deadlineNs, 1024 * 1024, first);
    }

    @Override
    public void onFlow() {
      told++;
    }

    void write(int flags, byte[] bytes) {
      steps.client.write(stream, unit(flags, 0, bytes));
    }

    void write(int messages) {
      for (int i = 0; i < messages; i++) {
        write(MESSAGE, message(LENGTH, i));
      }
    }

    void cancel() {
      steps.client.cancel(stream);
    }

    Unit take() {
      return FlowSteps.take(steps.client, stream);
    }

    List<Unit> takeAll() {
      return FlowSteps.takeAll(steps.client, stream);
    }

    Outcome outcome() {
      return stream.flow.outcome();
    }
  }

  /** The server's call. */
  final class Served implements ServerStream.Listener {
    final ServerStream stream;
    int cancels;
    int told;

    private Served(ServerStream stream) {
      this.stream = stream;
      stream.listener(this);
    }

    @Override
    public void onCancelled() {
      cancels++;
      assertEquals(1, cancels, "cancels told");
    }

    @Override
    public void onFlow() {
      told++;
    }

    void write(int flags, int code, byte[] bytes) {
      steps.server.write(stream, unit(flags, code, bytes));
    }

    void write(int messages) {
      for (int i = 0; i < messages; i++) {
        write(MESSAGE, 0, message(LENGTH, i));
      }
    }

    Unit take() {
      return FlowSteps.take(steps.server, stream);
    }

    List<Unit> takeAll() {
      return FlowSteps.takeAll(steps.server, stream);
    }
  }

  private static Unit take(Session session, Stream stream) {
    final Unit unit = stream.flow.peek();
    if (unit != null) {
      stream.flow.remove();
      session.consumed(stream, unit);
    }
    return unit;
  }

  static List<Unit> takeAll(Session session, Stream stream) {
    final List<Unit> units = new ArrayList<>();
    Unit unit;
    while ((unit = take(session, stream)) != null) {
      units.add(unit);
    }
    return units;
  }
}
