package dev.ringfetch.examples.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The child's side of a {@link ChildProcess}: reads a command a line, runs it, prints one line that
 * says {@code ok} with the answer or {@code failed} with the reason. Ends with its input, so no
 * child outlives the process that started it.
 */
public final class CommandLoop {
  static final String OK = "ok";
  static final String FAILED = "failed";

  private final Map<String, Command> commands = new HashMap<>();

  /** A command of a child. */
  @FunctionalInterface
  public interface Command {
    /** Runs the command; an exception becomes a {@link ChildFailure} on the other side. */
    Answer run(List<String> arguments) throws Exception;
  }

  /** Adds a command. */
  public CommandLoop on(String name, Command command) {
    commands.put(name, command);
    return this;
  }

  /** Serves until the input ends. */
  public void run() throws IOException {
    final PrintStream out = System.out;
    final BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(execute(line));
      out.flush();
    }
  }

  private String execute(String line) {
    final String[] words = line.split(" ", 0);
    final Command command = commands.get(words[0]);
    if (command == null) {
      return FAILED + "\tno such command: " + line;
    }
    try {
      return OK + "\t" + command.run(Arrays.asList(words).subList(1, words.length));
    } catch (Exception e) {
      return FAILED + "\t" + String.valueOf(e.getMessage()).replaceAll("\\s", " ");
    }
  }
}
