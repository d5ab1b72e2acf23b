package dev.ringfetch.benchmarks;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The progress display of a benchmark: a bar on a terminal, which stays on its line, or else a line
 * now and then. Not for several threads.
 */
final class Progress {
  private static final int WIDTH = 30;
  private static final Path ERRORS = Path.of("/proc/self/fd/2");
  private static final String CLEAR = "\r\u001b[K";

  private final PrintStream out;
  private final boolean terminal;
  private final String benchmark;
  private final double allMillis;
  private double doneMillis;
  private boolean open;

  /**
   * Creates it.
   *
   * @param terminal whether the stream is one that takes a line back.
   * @param allMillis how long everything is to take, in milliseconds.
   */
  Progress(PrintStream out, boolean terminal, String benchmark, double allMillis) {
    this.out = out;
    this.terminal = terminal;
    this.benchmark = benchmark;
    this.allMillis = allMillis;
  }

  /** To the standard error of this process. */
  static Progress ofProcess(String benchmark, double allMillis) {
    return new Progress(System.err, isTerminal(), benchmark, allMillis);
  }

  /** Whether that is a terminal, as Linux names it; a console would be more than is needed. */
  private static boolean isTerminal() {
    try {
      final String target = Files.readSymbolicLink(ERRORS).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /** Begins a step. */
  void begin(String what) {
    if (terminal) {
      out.print(CLEAR + bar() + " " + what);
      out.flush();
      open = true;
    } else {
      out.println(benchmark + ": " + bar() + " " + what);
    }
  }

  /** Ends the current step, which was planned to take so long. */
  void done(double millis) {
    doneMillis += millis;
  }

  /** Prints a line that stays. */
  void tell(String what) {
    clear();
    out.println(benchmark + ": " + what);
  }

  /** Removes the bar. */
  void clear() {
    if (open) {
      out.print(CLEAR);
      out.flush();
      open = false;
    }
  }

  /** The bar, how much is done, and how long the rest takes at the least. */
  String bar() {
    final double part = allMillis == 0 ? 1 : Math.min(1, doneMillis / allMillis);
    final int full = (int) (part * WIDTH);
    final Duration left = Duration.ofMillis((long) Math.max(0, allMillis - doneMillis));
    return String.format(
        "[%s%s] %3d %% %d:%02d left",
        "#".repeat(full),
        ".".repeat(WIDTH - full),
        (int) (100 * part),
        left.toMinutes(),
        left.toSecondsPart());
  }
}
