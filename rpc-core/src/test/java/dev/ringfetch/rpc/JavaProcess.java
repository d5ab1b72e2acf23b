package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A program in a JVM of its own, for what a JVM decides once. */
final class JavaProcess {
  private JavaProcess() {}

  /**
   * Runs a program to its end, which must be a good one.
   *
   * @param classPath before this JVM's own, or empty.
   * @param variable the value of {@link GrpcBuilders#VARIABLE}, or null.
   * @return what it has written.
   */
  static String run(Class<?> main, List<String> flags, String classPath, String variable)
      throws Exception {
    final List<String> command = new ArrayList<>(flags);
    command.addAll(
        List.of("-cp", classPath + System.getProperty("java.class.path"), main.getName()));
    return run(command, variable);
  }

  /** As the other one does, with all that stands behind {@code java} on the command line. */
  static String run(List<String> options) throws Exception {
    return run(options, null);
  }

  /** Starts a program, with all that stands behind {@code java} on the command line. */
  static Process start(List<String> options) throws IOException {
    return builder(options).start();
  }

  private static ProcessBuilder builder(List<String> options) {
    final List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1"));
    command.addAll(options);
    final ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().remove(GrpcBuilders.VARIABLE);
    return builder;
  }

  private static String run(List<String> options, String variable) throws Exception {
    final ProcessBuilder builder = builder(options);
    if (variable != null) {
      builder.environment().put(GrpcBuilders.VARIABLE, variable);
    }
    final Process process = builder.start();
    try (BufferedReader output =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      final String lines = output.lines().collect(Collectors.joining("\n"));
      assertEquals(0, process.waitFor(), lines);
      return lines;
    } finally {
      process.destroyForcibly();
    }
  }
}
