package dev.ringfetch.session.handshake;

/** The constants of the handshake protocol, which both sides check. */
public final class Wire {
  /** Version of frames, units and handshake. */
  public static final int VERSION = 1;

  /** Length of the one-time token in bytes. */
  static final int TOKEN_LENGTH = 16;

  /** Largest ring that a client gets, in bytes. */
  static final int MAX_WISHED_RING_LENGTH = 16 * 1024 * 1024;

  /** Exclusive upper bound of the start positions of rings, in slots. */
  static final long POSITIONS_LIMIT = 1L << 62;

  private Wire() {}
}
