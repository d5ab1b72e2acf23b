package dev.ringfetch.session.unit;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;

import dev.ringfetch.ring.FrameDescriptor;

/**
 * One of the units of a {@code Flow}: flags, code and bytes. It is owned by one party at a time: by
 * the call until it hands it over, by the session until the call takes it.
 */
public final class Unit {
  private final UnitBuffer bytes;
  private final int flags;
  private final int code;
  private final int total;
  private final boolean discarded;

  /**
   * A unit to be sent.
   *
   * @param flags see {@link FrameDescriptor}.
   * @param code method id or status.
   */
  public Unit(int flags, int code, UnitBuffer bytes) {
    this(flags, code, bytes, bytes.length(), false);
  }

  private Unit(int flags, int code, UnitBuffer bytes, int total, boolean discarded) {
    this.flags = flags;
    this.code = code;
    this.bytes = bytes;
    this.total = total;
    this.discarded = discarded;
  }

  /** A unit that came in: announced with a length that may be more than what was kept of it. */
  static Unit received(int flags, int code, UnitBuffer bytes, int total, boolean discarded) {
    return new Unit(flags, code, bytes, total, discarded);
  }

  /** Flags; see {@link FrameDescriptor}. */
  public int flags() {
    return flags;
  }

  /** True when a flag is set. */
  public boolean has(int flag) {
    return (flags & flag) != 0;
  }

  /** Method id or status code. */
  public int code() {
    return code;
  }

  /** Sections and message. */
  public UnitBuffer bytes() {
    return bytes;
  }

  /** Length that it was announced with; longer than what is kept if too long. */
  public int total() {
    return total;
  }

  /** True when it was too long to be kept. */
  public boolean discarded() {
    return discarded;
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
