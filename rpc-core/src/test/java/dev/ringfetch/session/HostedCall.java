package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A handler's call under attack, which reads what came in, and says sooner or later that it has.
 */
final class HostedCall implements ServerStream.Listener {
  final ServerStream stream;

  private final HostileClientWorld world;
  private final ServerSession session;
  private final int id;
  private final List<Unit> unread = new ArrayList<>();
  private long kept; // of units without a message
  private long last; // what the message cost that came last
  private boolean begun;
  private boolean closed;
  private int cancels;

  HostedCall(HostileClientWorld world, ServerSession session, ServerStream stream) {
    this.world = world;
    this.session = session;
    this.stream = stream;
    this.id = stream.id;
  }

  /** What the session must count for it. */
  long unconsumed() {
    return kept + unread.stream().mapToLong(Unit::cost).sum();
  }

  @Override
  public void onCancelled() {
    assertEquals(1, ++cancels, "cancels told");
  }

  @Override
  public void onFlow() {
    take();
    if (stream.flow().isSent()) {
      world.running.remove(this);
    }
  }

  /** Takes what has come in. */
  void take() {
    if (stream.flow() == null) {
      return;
    }
    Unit unit;
    while ((unit = stream.flow().peek()) != null) {
      stream.flow().remove();
      world.take(id, unit);
      world.checkLength(unit.bytes());
      if (unit.has(MESSAGE)) {
        unread.add(unit);
        last = unit.cost();
      } else if (unit.bytes().length() > UnitBuffer.RETAINED_LENGTH) {
        kept += unit.bytes().length();
      }
    }
    final long before = unread.stream().mapToLong(Unit::cost).sum() - last;
    assertTrue(before < FlowRules.WINDOW, () -> "unread before the last=" + before);
  }

  /** Reads, or writes, or ends. */
  void goOn() {
    if (stream.flow() == null) {
      stream.openFlow().remove();
    }
    switch (world.input.next(8)) {
      case 0 -> end();
      case 1, 2, 3 -> {
        for (int units = 1 + world.input.next(20); units > 0 && !unread.isEmpty(); units--) {
          session.consumed(stream, unread.remove(0));
        }
      }
      default -> {
        for (int units = 1 + world.input.next(30); units > 0 && !closed; units--) {
          final int flags = (begun ? 0 : PREFIX) | MESSAGE;
          write(world.input.next(64) == 63 ? flags | SUFFIX : flags, world.outboundLength());
        }
      }
    }
  }

  private void write(int flags, int length) {
    final UnitBuffer bytes = new UnitBuffer();
    bytes.extend(length);
    begun = true;
    closed |= (flags & SUFFIX) != 0;
    session.write(stream, new Unit(flags, 0, bytes));
    HostilePeer.checkWindow(stream.flow());
  }

  /** Says the last, or lets go of what is over. */
  void end() {
    if (stream.isCancelled()) {
      world.running.remove(this);
      session.release(stream);
    } else if (stream.flow() == null) {
      world.running.remove(this);
      session.respond(stream, SessionSteps.UNIT, 0, true);
    } else if (!closed) {
      write(SUFFIX, 0);
    }
  }
}
