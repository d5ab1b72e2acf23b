package dev.ringfetch.index.rights;

import java.util.Locale;

/** A right to an index. Each one includes those before it. */
public enum Right {
  /** Reads entries, watches them, and describes the index. */
  READ,
  /** Writes and removes entries, and creates the index. */
  WRITE,
  /** Drops the index, and accepts the loss of entries that no node has. */
  ADMIN;

  private final String text = name().toLowerCase(Locale.ROOT);

  /** The right's name in the users file and in messages. */
  @Override
  public String toString() {
    return text;
  }
}
