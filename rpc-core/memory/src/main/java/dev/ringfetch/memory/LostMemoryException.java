package dev.ringfetch.memory;

/** The end of access to an owner's memory: it has ended, or has taken the memory away. */
@SuppressWarnings("serial") // never serialized
final class LostMemoryException extends Exception {
  LostMemoryException() {
    super("the owner's memory is gone", null, false, false);
  }
}
