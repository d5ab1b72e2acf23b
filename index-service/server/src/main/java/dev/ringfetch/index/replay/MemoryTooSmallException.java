package dev.ringfetch.index.replay;

import java.io.IOException;

/** Thrown if a journal has more than the memory of its indexes can have. */
public final class MemoryTooSmallException extends IOException {
  private static final long serialVersionUID = 1;

  public MemoryTooSmallException(Throwable cause) {
    super(
        "index memory is too small for what the journal has; give the server more (--memory, or"
            + " budget(bytes) in a program)",
        cause);
  }

  /** Whether a failure has this among its causes. */
  public static boolean isIn(Throwable failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof MemoryTooSmallException)) {
      cause = cause.getCause();
    }
    return cause != null;
  }
}
