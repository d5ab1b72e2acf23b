package dev.ringfetch.index.service;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.StressOptions;

/**
 * Lincheck's stress test of an index, in a JVM of its own: it begins by transforming every class
 * that is loaded, which takes minutes where other tests have brought gRPC in.
 */
final class IndexStress {
  private static final int DEADLINE_S = 280;
  private static final int FOUND = 3;

  private IndexStress() {}

  /** Runs in the child. Arguments: class of the program, iterations, invocations in each. */
  public static void main(String[] args) throws ClassNotFoundException {
    try {
      new StressOptions()
          .threads(2)
          .actorsPerThread(4)
          .iterations(Integer.parseInt(args[1]))
          .invocationsPerIteration(Integer.parseInt(args[2]))
          .minimizeFailedScenario(false)
          .check(Class.forName(args[0]));
    } catch (LincheckAssertionError e) {
      System.err.println(e.getMessage());
      System.exit(FOUND);
    }
    System.exit(0);
  }

  /** Whether there was an order that explains the results of every run. */
  static boolean isLinearizable(
      Class<? extends IndexProgram> program, int iterations, int invocations) throws Exception {
    final List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+EnableDynamicAgentLoading",
            "-cp",
            System.getProperty("java.class.path"),
            IndexStress.class.getName(),
            program.getName(),
            Integer.toString(iterations),
            Integer.toString(invocations));
    final Process child =
        new ProcessBuilder(command)
            // Not inherited: Surefire has its own use for our standard output.
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      if (!child.waitFor(DEADLINE_S, TimeUnit.SECONDS)) {
        throw new AssertionError("no result after " + DEADLINE_S + " s");
      }
    } finally {
      child.destroyForcibly();
    }
    return switch (child.exitValue()) {
      case 0 -> true;
      case FOUND -> false;
      default -> throw new AssertionError("ended with exit code " + child.exitValue());
    };
  }
}
