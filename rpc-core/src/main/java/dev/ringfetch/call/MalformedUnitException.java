package dev.ringfetch.call;

/** A unit that no peer may send. The message names what is wrong with it. */
final class MalformedUnitException extends Exception {
  private static final long serialVersionUID = 1;

  MalformedUnitException(String message) {
    super(message);
  }
}
