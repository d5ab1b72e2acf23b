package dev.ringfetch.memory;

/** The failure of a read that found what no owner writes. */
@SuppressWarnings("serial") // never serialized
final class MalformedMemoryException extends Exception {
  MalformedMemoryException(String message) {
    super(message);
  }
}
