package dev.ringfetch.index.cli;

import dev.ringfetch.index.TlsOptions;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The common state of the commands of a run: streams, the signal to stop, defaults of options, and,
 * in a shell, the connection. Used by one thread.
 */
final class Session implements AutoCloseable {
  private final Stdio stdio;
  private final StopSignal stop;
  private final InputStream stdin;
  private final Map<String, String> defaults = new HashMap<>();
  private Function<String, String> question = this::askOnStreams;
  private ServerOptions shellServer; // null if this is no shell
  private Connection connection; // null if none is kept

  Session(Stdio stdio, StopSignal stop) {
    this.stdio = stdio;
    this.stop = stop;
    this.stdin =
        new BufferedInputStream(new Input("stdin", stdio.in(), stop)) {
          @Override
          public void close() {} // it is that of the next command, too
        };
    defaults.put(ServerOptions.SERVER, inEnvironment("RINGFETCH_SERVER", "localhost:50051"));
    defaults.put(IndexOption.INDEX, inEnvironment("RINGFETCH_INDEX", "default"));
    defaults.putAll(TlsOptions.defaults(stdio.environment()));
    defaults.putAll(UserOptions.defaults(stdio.environment()));
  }

  /** A variable of the environment; an empty one counts as not set. */
  private String inEnvironment(String name, String unset) {
    final String value = stdio.environment().getOrDefault(name, "");
    return value.isEmpty() ? unset : value;
  }

  Stdio stdio() {
    return stdio;
  }

  StopSignal stop() {
    return stop;
  }

  /** Standard input, buffered; {@link Input} says how reads end. */
  InputStream stdin() {
    return stdin;
  }

  /** Opens a file, or standard input if its name is {@link Input#STDIN}. */
  InputStream open(String file) throws IOException {
    return file.equals(Input.STDIN) ? stdin : Input.open(file, stop);
  }

  /** The default of an option; null if the option has one of its own. */
  String defaultOf(String option) {
    return defaults.get(option);
  }

  /** The defaults that the environment or the shell sets. */
  Stream<String> defaults() {
    return defaults.values().stream();
  }

  /** Sets the default of an option. */
  void setDefault(String option, String value) {
    defaults.put(option, value);
  }

  /**
   * Begins a shell on a server: keeps the connection from now on.
   *
   * @param asking prints a question and reads the user's answer
   */
  void beginShell(ServerOptions server, Function<String, String> asking) {
    shellServer = server;
    question = asking;
  }

  /** The server of the shell; empty if this is no shell. */
  Optional<ServerOptions> shellServer() {
    return Optional.ofNullable(shellServer);
  }

  /** Asks the user, and returns the answer; empty at the end of the input. */
  String ask(String text) {
    return question.apply(text);
  }

  private String askOnStreams(String text) {
    stdio.err().print(text);
    stdio.err().flush();
    final StringBuilder answer = new StringBuilder();
    try {
      for (int c = stdin.read(); c >= 0 && c != '\n'; c = stdin.read()) {
        answer.append((char) c);
      }
    } catch (InterruptedIOException e) {
      stdio.err().println(); // ends the line of the question
      throw new UncheckedIOException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return answer.toString();
  }

  boolean isShell() {
    return shellServer != null;
  }

  /** The connection to a server, for one command. The command returns it with {@link #giveBack}. */
  Connection connect(ServerOptions options) {
    final Connection kept = connection;
    connection = null;
    if (kept != null) {
      if (kept.isOf(options)) {
        return kept;
      }
      kept.close();
    }
    return new Connection(options);
  }

  /** Keeps a connection for the next command, or closes it. */
  void giveBack(Connection used) {
    if (isShell()) {
      connection = used;
    } else {
      used.close();
    }
  }

  @Override
  public void close() {
    if (connection != null) {
      connection.close();
    }
  }
}
