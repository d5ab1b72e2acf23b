package dev.ringfetch.examples.verbs;

/** How an answer reaches the client; a request is always a WRITE into the server's memory. */
public enum BareMode {
  /** The server stores it in its own memory; the client READs until it is there. */
  fetch(1),
  /** The server WRITEs it into the client's memory. */
  push(2),
  /** The server SENDs it as an unreliable datagram, as HERD does. */
  datagram(3);

  private final int code;

  BareMode(int code) {
    this.code = code;
  }

  /** The number that stands for it in a {@link BareGreeting}. */
  int code() {
    return code;
  }

  /**
   * The mode that a number stands for.
   *
   * @throws IllegalArgumentException if there is none.
   */
  static BareMode of(int code) {
    for (final BareMode mode : values()) {
      if (mode.code == code) {
        return mode;
      }
    }
    throw new IllegalArgumentException("mode=" + code);
  }
}
