package dev.ringfetch.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rpc.RingChannel;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;

/** An {@link Application} in a process of its own, on a class path of its own. */
final class Child {
  private static final int LIMIT_S = 180;
  private static final Path JARS = Path.of("target", "jars");

  private final List<String> options = new ArrayList<>();
  private final Path directory;
  private final String classPath;

  /**
   * Creates the process's description.
   *
   * @param directory for its files and its output.
   * @param jars directories below {@code target/jars}.
   */
  Child(Path directory, String... jars) {
    this.directory = directory;
    final List<String> paths = new ArrayList<>();
    for (final Class<?> ours : List.of(Application.class, RingChannel.class, DirectBuffer.class)) {
      paths.add(ours.getProtectionDomain().getCodeSource().getLocation().getPath());
    }
    for (final String name : jars) {
      assertTrue(Files.isDirectory(JARS.resolve(name)), () -> "not copied: " + name);
      paths.add(JARS.resolve(name) + "/*");
    }
    this.classPath = String.join(File.pathSeparator, paths);
  }

  /** Adds options of the virtual machine. */
  Child with(String... added) {
    options.addAll(List.of(added));
    return this;
  }

  /** Runs it to its end; returns what it has written. */
  List<String> run(int exitCode, String... arguments) throws Exception {
    final Path output = directory.resolve("output");
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("-Dringfetch.shm.directory=" + directory);
    command.addAll(options);
    command.addAll(List.of("-cp", classPath, Application.class.getName()));
    command.addAll(List.of(arguments));
    final ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("RINGFETCH_DROPIN");
    final Process process = builder.redirectOutput(output.toFile()).start();
    try {
      assertTrue(process.waitFor(LIMIT_S, TimeUnit.SECONDS), "the application has not ended");
    } finally {
      process.destroyForcibly();
    }
    final List<String> lines = Files.readAllLines(output);
    assertEquals(exitCode, process.exitValue(), () -> String.join("\n", lines));
    return lines;
  }
}
