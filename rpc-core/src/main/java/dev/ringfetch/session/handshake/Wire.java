package dev.ringfetch.session.handshake;

/** What the two sides of a handshake hold each other to. */
public final class Wire {
  /** Version of frames, units and handshake. */
  public static final int VERSION = 1;

  /** Length of the one-time token in bytes. */
  static final int TOKEN_LENGTH = 16;

  /** Largest ring that a client gets, in bytes. */
  static final int MAX_WISHED_RING_LENGTH = 16 * 1024 * 1024;

  /** Where rings start is from 0 up to here, exclusive, in slots. */
  static final long POSITIONS_LIMIT = 1L << 62;

  private Wire() {}
}
