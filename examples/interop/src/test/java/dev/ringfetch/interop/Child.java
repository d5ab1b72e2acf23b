package dev.ringfetch.interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program in a JVM of its own, on the tests' class path. */
final class Child implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  private Child(Process process) {
    this.process = process;
    this.output = process.inputReader(UTF_8);
  }

  /**
   * Starts a program. Its errors and its log are part of its output.
   *
   * @param flags of the JVM.
   */
  static Child start(List<String> flags, String program, String... arguments) throws IOException {
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(flags);
    command.addAll(List.of("-ea", "-cp", System.getProperty("java.class.path"), program));
    command.addAll(List.of(arguments));
    return new Child(new ProcessBuilder(command).redirectErrorStream(true).start());
  }

  String readLine() throws IOException {
    return output.readLine();
  }

  /** Reads to a line that has this in it; null if there is none. */
  String readTo(String part) throws IOException {
    String line;
    do {
      line = readLine();
    } while (line != null && !line.contains(part));
    return line;
  }

  /** Reads to the end. */
  List<String> readAll() throws IOException {
    final List<String> lines = new ArrayList<>();
    String line;
    while ((line = readLine()) != null) {
      lines.add(line);
    }
    return lines;
  }

  int awaitEnd() throws InterruptedException {
    return process.waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
