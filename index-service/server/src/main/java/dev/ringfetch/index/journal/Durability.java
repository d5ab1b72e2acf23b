package dev.ringfetch.index.journal;

/** What an answered write of an index survives. */
public enum Durability {
  /** Nothing: entries end with the server. */
  MEMORY(1),

  /**
   * The end of the server's process, and a loss of power, that come later than the interval and the
   * time of one sync after the answer.
   */
  INTERVAL(2),

  /** The end of the server's process and a loss of power at any time: the answer follows a sync. */
  DISK(3);

  private final int code;

  Durability(int code) {
    this.code = code;
  }

  /** What stands for it in files. */
  int code() {
    return code;
  }

  /** What that code stands for, or null. */
  static Durability ofCode(int code) {
    for (final Durability durability : values()) {
      if (durability.code == code) {
        return durability;
      }
    }
    return null;
  }
}
