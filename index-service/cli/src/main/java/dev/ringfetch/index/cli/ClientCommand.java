package dev.ringfetch.index.cli;

import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that talks to a server: gets a connection and an output, and returns an exit code. */
abstract class ClientCommand implements Callable<Integer> {
  private final Session session;

  @Mixin private ServerOptions server;
  @Spec private CommandSpec spec;

  ClientCommand(Session session) {
    this.session = session;
  }

  /**
   * Runs the command. The caller flushes the output, also where this throws.
   *
   * @return the exit code.
   */
  abstract int run(Connection connection, Output out) throws Exception;

  /** Checks and translates operands before there is a connection: throws on misuse. */
  void check() {}

  /** Whether the command's work is a change, or a file, and the output only says what was done. */
  boolean isChanging() {
    return false;
  }

  /** Whether the operands need no server, so {@link #runOffline} is called, without one. */
  boolean isOffline() {
    return false;
  }

  /** Runs the command without a server; else as {@link #run}. */
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

  /** What came before the failure is right; the failure is what the user hears about. */
  private static void flushWhatThereIs(Output out) {
    try {
      out.flush();
    } catch (UncheckedIOException e) {
      // Its reader is gone, or the disk is full: most likely that is the failure.
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

  /** The name of the command, as the user calls it. */
  final String name() {
    return spec.qualifiedName();
  }

  /** The width at which lines for a person are cut; 0 where no person reads. */
  final int width() {
    return stdio().terminals().output() ? stdio().columns() : 0;
  }

  /** Prints a line for a person, and nothing where a script reads JSON. */
  final void say(Output out, String line) {
    if (!isJson()) {
      out.line(line);
    }
  }

  /**
   * Asks the person at the terminal; where none sits there, the answer is yes.
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
