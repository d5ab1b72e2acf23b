package dev.ringfetch.examples.process;

/** A child process could not do what it was asked for; the message is the child's own. */
public final class ChildFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ChildFailure(String message) {
    super(message);
  }
}
