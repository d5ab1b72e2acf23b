package dev.ringfetch.index.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.ParsedLine;
import org.jline.reader.SyntaxError;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.DefaultParser;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The command that reads commands, from the terminal or from a pipe, over one connection. */
@Command(name = "shell", description = "Read commands; 'use NAME' sets the index, 'exit' ends.")
final class ShellCommand implements Callable<Integer> {
  private final Session session;

  @Mixin private IndexOption index;
  @Mixin private ServerOptions server;
  private LineReader reader; // null without a terminal
  private int exitCode = ExitCode.OK; // of the last command

  ShellCommand(Session session) {
    this.session = session;
  }

  @Override
  public Integer call() throws IOException {
    if (session.isShell()) {
      throw CommandFailure.misuse("this is a shell already");
    }
    session.setDefault(ServerOptions.SERVER, server.server());
    session.setDefault(IndexOption.INDEX, index.name(session));
    server.identity().forEach(session::setDefault);
    session.beginShell(server, this::ask);
    if (session.stdio().terminals().input() && session.stdio().terminals().output()) {
      readTerminal();
    } else {
      readPipe();
    }
    return exitCode;
  }

  /**
   * Parses like a shell, except that a backslash is an ordinary character, as values often contain
   * it.
   */
  private static DefaultParser parser() {
    final DefaultParser parser = new DefaultParser();
    parser.setEscapeChars(null);
    parser.setEofOnUnclosedQuote(true);
    return parser;
  }

  private void readPipe() throws IOException {
    final BufferedReader lines =
        new BufferedReader(new InputStreamReader(session.stdin(), StandardCharsets.UTF_8));
    final DefaultParser parser = parser();
    for (String line = lines.readLine();
        line != null && !session.stop().isRequested();
        line = lines.readLine()) {
      final ParsedLine parsed;
      try {
        parsed = parser.parse(line, line.length());
      } catch (SyntaxError e) {
        session.stdio().note("shell: a quote is not closed: " + Printable.shorten(line));
        exitCode = ExitCode.MISUSE;
        continue;
      }
      if (!execute(parsed.words())) {
        return;
      }
    }
  }

  private void readTerminal() throws IOException {
    try (Terminal terminal = TerminalBuilder.builder().system(true).build()) {
      reader =
          LineReaderBuilder.builder()
              .terminal(terminal)
              .parser(parser())
              .completer(new Completion(session))
              .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
              .build();
      while (!session.stop().isRequested()) {
        try {
          reader.readLine(session.defaultOf(IndexOption.INDEX) + "> ");
          if (!execute(reader.getParsedLine().words())) {
            return;
          }
        } catch (UserInterruptException e) {
          // The line is dropped.
        } catch (EndOfFileException e) {
          return;
        }
      }
    }
  }

  private String ask(String question) {
    try {
      return reader == null ? "" : reader.readLine(question);
    } catch (UserInterruptException | EndOfFileException e) {
      return "";
    }
  }

  /** Executes a line; false if it ends the shell. */
  private boolean execute(List<String> words) {
    final List<String> given = words.stream().dropWhile(String::isEmpty).toList();
    if (given.isEmpty() || given.get(0).isEmpty() || given.get(0).startsWith("#")) {
      return true;
    }
    switch (given.get(0)) {
      case "exit", "quit" -> {
        return false;
      }
      case "help" -> IndexProgram.commandLine(session).usage(session.stdio().err());
      default -> {
        final String[] args = given.toArray(String[]::new);
        exitCode = IndexProgram.execute(session, args);
      }
    }
    return true;
  }
}
