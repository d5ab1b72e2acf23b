package dev.ringfetch.index.cli;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The surroundings of a command: its streams, which of them are terminals, and its environment.
 *
 * @param out unbuffered; a write throws if its reader has gone.
 * @param err in UTF-8, flushed with each line.
 */
record Stdio(
    InputStream in,
    OutputStream out,
    PrintStream err,
    Terminals terminals,
    Map<String, String> environment) {
  private static final int COLUMNS_DEFAULT = 80;
  private static final int COLUMNS_LEAST = 40;

  /** Flags for the streams that are terminals. */
  record Terminals(boolean input, boolean output, boolean errors) {}

  /** The streams of this process. */
  static Stdio ofProcess() {
    return new Stdio(
        new FileInputStream(FileDescriptor.in),
        new FileOutputStream(FileDescriptor.out),
        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8),
        new Terminals(isTerminal(0), isTerminal(1), isTerminal(2)),
        System.getenv());
  }

  /**
   * True if a descriptor is a terminal, by the name of its file; other methods differ between JDKs.
   */
  private static boolean isTerminal(int descriptor) {
    try {
      final String file = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return file.startsWith("/dev/pts/")
          || file.startsWith("/dev/tty")
          || file.equals("/dev/console");
    } catch (IOException e) {
      return false;
    }
  }

  /** Width of the terminal in characters, as the shell exports it. */
  int columns() {
    try {
      return Math.max(COLUMNS_LEAST, Integer.parseInt(environment.getOrDefault("COLUMNS", "")));
    } catch (NumberFormatException e) {
      return COLUMNS_DEFAULT;
    }
  }

  /** Prints a line that is not the command's result. */
  void note(String line) {
    err.println(oneLine(line));
  }

  /** The same text in one line, without control characters. */
  static String oneLine(String text) {
    return Printable.escape(text.strip().replaceAll("\\s*\\R\\s*", " "));
  }
}
