package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * Formatter of the reason why a fabric, or a class that it needs, cannot be used: one line for an
 * exception.
 */
public final class Obstacle {
  private Obstacle() {}

  /**
   * Returns the message; for an error with its class and cause, as the message alone says too
   * little.
   */
  public static String of(Throwable thrown) {
    final String text =
        thrown instanceof IOException && thrown.getMessage() != null
            ? thrown.getMessage()
            : named(thrown);
    final int end = text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }

  private static String named(Throwable thrown) {
    if (!(thrown instanceof Error)) {
      return thrown.toString();
    }
    final StringBuilder text = new StringBuilder(simple(thrown));
    final Throwable cause = thrown.getCause();
    if (cause != null && cause != thrown) {
      text.append(", caused by ").append(simple(cause));
    }
    return text.toString();
  }

  private static String simple(Throwable thrown) {
    final String message = thrown.getMessage();
    return thrown.getClass().getSimpleName() + (message == null ? "" : ": " + message);
  }
}
