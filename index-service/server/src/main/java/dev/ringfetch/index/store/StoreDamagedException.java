package dev.ringfetch.index.store;

/**
 * Thrown if index memory is not as the owners of its partitions wrote it: another process of the
 * same user changed or truncated it. The index is refused from then on.
 */
public final class StoreDamagedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  StoreDamagedException(String message) {
    super(message);
  }

  StoreDamagedException(String message, Throwable cause) {
    super(message, cause);
  }
}
