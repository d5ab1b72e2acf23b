package dev.ringfetch.index.cli;

/** The exit codes of the command line, which scripts can rely on. */
final class ExitCode {
  /** The command succeeded. */
  static final int OK = 0;

  /** The command failed, or a part of it: bad lines of a file, full memory, a file's error. */
  static final int FAILED = 1;

  /** The command line is wrong. */
  static final int MISUSE = 2;

  /** There is no such key, or no such index. */
  static final int NOT_FOUND = 3;

  /** The index server is not reachable, or did not answer in time. */
  static final int UNREACHABLE = 4;

  /** A signal interrupted the command: 128 and the number of SIGINT. */
  static final int INTERRUPTED = 130;

  /** The reader of the output has gone: 128 and the number of SIGPIPE. */
  static final int BROKEN_PIPE = 141;

  private ExitCode() {}
}
