package dev.ringfetch.index.cli;

import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * A command that talks to a server: receives a connection and an output, and returns an exit code.
 */
abstract class ClientCommand implements Callable<Integer> {
  private final Session session;

  @Mixin private ServerOptions server;
  @Spec private CommandSpec spec;

  ClientCommand(Session session) {
    this.session = session;
  }

  /**
   * Runs the command. The caller flushes the output, even if this method throws.
   *
   * @return the exit code.
   */
  abstract int run(Connection connection, Output out) throws Exception;

  /** Checks and translates the operands before the connection is made; throws on misuse. */
  void check() {}

  /** True if the command's result is a change or a file, and its output only reports it. */
  boolean isChanging() {
    return false;
  }

  /** True if the operands need no server: then {@link #runOffline} is called. */
  boolean isOffline() {
    return false;
  }

  /** Runs the command without a server; otherwise like {@link #run}. */
  int runOffline(Output out) throws Exception {
    throw new IllegalStateException("offline=" + isOffline());
  }

  @Override
  public final Integer call() throws Exception {
    check();
    final Output out = new Output(stdio().out());
    if (isOffline()) {
      final int code = runOffline(out);
      out.complete(isChanging());
      return stop().isRequested() ? ExitCode.INTERRUPTED : code;
    }
    final Connection connection = session.connect(server);
    boolean done = false;
    try {
      final int code = run(connection, out);
      out.complete(isChanging());
      done = true;
      return stop().isRequested() ? ExitCode.INTERRUPTED : code;
    } finally {
      try {
        if (!done) {
          flushWhatThereIs(out);
        }
      } finally {
        session.giveBack(connection);
      }
    }
  }

  /**
   * Flushes the output of a failed command: lines before the failure are valid. Failures of the
   * flush are not reported, but the command's.
   */
  private static void flushWhatThereIs(Output out) {
    try {
      out.flush();
    } catch (UncheckedIOException e) {
      // The reader is gone or the disk is full: most likely the command failed for the same reason.
    }
  }

  final Session session() {
    return session;
  }

  final Stdio stdio() {
    return session.stdio();
  }

  final StopSignal stop() {
    return session.stop();
  }

  final ServerOptions server() {
    return server;
  }

  final boolean isJson() {
    return server.isJson();
  }

  /** The name of the command on the command line. */
  final String name() {
    return spec.qualifiedName();
  }

  /** The width at which lines are cut; 0 if the output is no terminal. */
  final int width() {
    return stdio().terminals().output() ? stdio().columns() : 0;
  }

  /** Prints a line of text; nothing if the output is JSON. */
  final void say(Output out, String line) {
    if (!isJson()) {
      out.line(line);
    }
  }

  /**
   * Asks the user at the terminal; without a terminal the answer is yes.
   *
   * @throws CommandFailure if the answer is not yes.
   */
  final void confirm(String question) {
    final Stdio stdio = stdio();
    if (!stdio.terminals().input() || !stdio.terminals().errors()) {
      return;
    }
    final String given = session.ask(question + " [y/N] ").strip();
    if (!given.equalsIgnoreCase("y") && !given.equalsIgnoreCase("yes")) {
      throw new CommandFailure(ExitCode.FAILED, "nothing was changed");
    }
  }
}
