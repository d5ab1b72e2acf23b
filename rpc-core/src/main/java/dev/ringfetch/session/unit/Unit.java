package dev.ringfetch.session.unit;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;

import dev.ringfetch.ring.FrameDescriptor;

/**
 * One of the units of a {@code Flow}. It is owned by one party at a time: by the call until it
 * hands it over, by the session until the call takes it.
 *
 * @param flags see {@link FrameDescriptor}.
 * @param code method id or status code.
 * @param bytes sections and message.
 * @param total length that it was announced with; longer than what is kept if too long.
 * @param discarded true when it was too long to be kept.
 */
public record Unit(int flags, int code, UnitBuffer bytes, int total, boolean discarded) {
  /** A unit to be sent. */
  public Unit(int flags, int code, UnitBuffer bytes) {
    this(flags, code, bytes, bytes.length(), false);
  }

  /** True when a flag is set. */
  public boolean has(int flag) {
    return (flags & flag) != 0;
  }

  /** Bytes that it takes of its stream's window: none, unless it has a message. */
  public long cost() {
    return cost(flags, total);
  }

  /** Bytes that a unit takes of its stream's window. An empty message takes room, too. */
  public static long cost(int flags, int length) {
    return (flags & MESSAGE) == 0 ? 0 : (long) length + FrameDescriptor.SLOT_LENGTH;
  }
}
