package dev.ringfetch.index.cli;

/** The end of a command that failed: one line for the user, and the exit code. */
final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int exitCode;

  CommandFailure(int exitCode, String message) {
    this(exitCode, message, null);
  }

  CommandFailure(int exitCode, String message, Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }

  /** The failure of a wrong command line. */
  static CommandFailure misuse(String message) {
    return new CommandFailure(ExitCode.MISUSE, message);
  }
}
