package dev.ringfetch.index.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * What the commands of a run share: streams, the signal to stop, defaults of options, and, in a
 * shell, the connection. Used by one thread.
 */
final class Session implements AutoCloseable {
  private final Stdio stdio;
  private final StopSignal stop;
  private final Map<String, String> defaults = new HashMap<>();
  private Function<String, String> question = this::askOnStreams;
  private boolean shell;
  private Connection connection; // null: none that is kept

  Session(Stdio stdio, StopSignal stop) {
    this.stdio = stdio;
    this.stop = stop;
    defaults.put(ServerOptions.SERVER, inEnvironment("RINGFETCH_SERVER", "localhost:50051"));
    defaults.put(IndexOption.INDEX, inEnvironment("RINGFETCH_INDEX", "default"));
  }

  /** A variable of the environment; one that is empty is not set. */
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

  /** The default of an option; null if the option has one of its own. */
  String defaultOf(String option) {
    return defaults.get(option);
  }

  /** Sets the default of an option. */
  void setDefault(String option, String value) {
    defaults.put(option, value);
  }

  /** Begins a shell: connections are kept from now on, and a person is asked so. */
  void beginShell(Function<String, String> asking) {
    shell = true;
    question = asking;
  }

  /** Asks a person, and returns the answer; empty at the end of the input. */
  String ask(String text) {
    return question.apply(text);
  }

  private String askOnStreams(String text) {
    stdio.err().print(text);
    stdio.err().flush();
    final StringBuilder answer = new StringBuilder();
    try {
      for (int c = stdio.in().read(); c >= 0 && c != '\n'; c = stdio.in().read()) {
        answer.append((char) c);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return answer.toString();
  }

  boolean isShell() {
    return shell;
  }

  /** The connection to a server, for one command, which then gives it back. */
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
    if (shell) {
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
