package dev.ringfetch.index.cli;

import dev.ringfetch.index.ByteCount;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Option;

/** A command that works on a data directory that no server uses. */
abstract class OfflineCommand implements Callable<Integer> {
  private static final int ORDER = 100;

  private final Session session;

  @Option(
      names = "--memory",
      order = ORDER,
      paramLabel = "BYTES",
      defaultValue = "1G",
      converter = ByteCount.class,
      description = "Index memory, as of the server. Default: 1G.")
  private long memory;

  @Option(names = "--json", order = ORDER + 1, description = "Print JSON, one object a line.")
  private boolean json;

  @SuppressWarnings("UnusedVariable") // the program checks its presence by name
  @Option(names = "--verbose", order = ORDER + 2, description = "Print stack traces.")
  private boolean verbose;

  @SuppressWarnings("UnusedVariable") // picocli looks at it
  @Option(
      names = {"-h", "--help"},
      order = ORDER + 3,
      usageHelp = true,
      description = "Print this, and exit.")
  private boolean help;

  OfflineCommand(Session session) {
    this.session = session;
  }

  /** Runs the command; returns the exit code. */
  abstract int run(Output out) throws IOException;

  /** True if the command's result is a directory, and its output only reports it. */
  boolean isChanging() {
    return false;
  }

  @Override
  public final Integer call() throws IOException {
    final Output out = new Output(session.stdio().out());
    final int code = run(out);
    out.complete(isChanging());
    return session.stop().isRequested() ? ExitCode.INTERRUPTED : code;
  }

  final Session session() {
    return session;
  }

  /** Limit of index memory in bytes. */
  final long memory() {
    return memory;
  }

  final boolean isJson() {
    return json;
  }
}
