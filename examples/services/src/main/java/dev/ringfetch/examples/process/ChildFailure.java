package dev.ringfetch.examples.process;

/** The failure of a child process's command; the message is the child's own. */
public final class ChildFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ChildFailure(String message) {
    super(message);
  }
}
