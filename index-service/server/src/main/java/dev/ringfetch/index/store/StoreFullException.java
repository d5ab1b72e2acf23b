package dev.ringfetch.index.store;

/** Thrown if index memory has no room for another index. */
public final class StoreFullException extends RuntimeException {
  private static final long serialVersionUID = 1;

  StoreFullException(String message) {
    super(message);
  }
}
