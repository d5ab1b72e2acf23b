package dev.ringfetch.rdma.natives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loading in a JVM of its own, as applications have it: what is there, and what is not. */
final class NativeLibraryProcessTest {
  private static final long DEADLINE_S = 120;

  @TempDir Path directory;

  /** Prints whether the library is loaded, and why not, and what it left on the disk. */
  static final class Main {
    public static void main(String[] arguments) throws IOException {
      System.out.println("loaded=" + NativeLibrary.loaded());
      System.out.println("available=" + NativeLibrary.available());
      System.out.println("because=" + NativeLibrary.unavailableBecause());
      try {
        NativeLibrary.require();
        System.out.println("required=yes");
      } catch (IOException e) {
        System.out.println("required=" + e.getMessage());
      }
      try (Stream<Path> left = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
        System.out.println("left=" + left.toList());
      }
    }
  }

  /** Has no directory for the copy when it first asks, and one when it asks again. */
  static final class LateDirectory {
    public static void main(String[] arguments) throws IOException {
      System.out.println("early=" + NativeLibrary.unavailableBecause());
      Files.createDirectory(Path.of(System.getProperty("java.io.tmpdir")));
      Main.main(arguments);
    }
  }

  @Test
  void copyThatFoundNoRoomIsTriedAgain() throws Exception {
    RdmaAssumptions.assumeBuilt();
    Path missing = directory.resolve("missing");
    List<String> output = run(LateDirectory.class, "-Djava.io.tmpdir=" + missing);
    String early = line(output, "early=");
    assertTrue(early.startsWith("native library: no copy in " + missing + ": "), early);
    assertTrue(output.contains("loaded=true"), output::toString);
    assertTrue(output.contains("required=yes"), output::toString);
    assertTrue(output.contains("left=[]"), output::toString);
  }

  @Test
  void libraryInTheJarIsLoadedAndLeavesNothingBehind() throws Exception {
    RdmaAssumptions.assumeBuilt();
    List<String> output = run();
    assertTrue(output.contains("loaded=true"), output::toString);
    assertTrue(output.contains("required=yes"), output::toString);
    assertTrue(output.contains("left=[]"), output::toString);
  }

  @Test
  void installedLibraryIsLoadedInstead() throws Exception {
    RdmaAssumptions.assumeBuilt();
    Path installed = directory.resolve("installed.so");
    try (InputStream library = NativeLibrary.class.getResourceAsStream(NativeLibrary.resource())) {
      Files.copy(library, installed);
    }
    List<String> output = run("-D" + NativeLibrary.PROPERTY + "=" + installed);
    assertTrue(output.contains("loaded=true"), output::toString);
    assertTrue(output.contains("required=yes"), output::toString);
  }

  @Test
  void missingLibraryIsAReasonAndNoException() throws Exception {
    assertUnavailable(run("-D" + NativeLibrary.PROPERTY + "=/nowhere/lib.so"), "/nowhere/lib.so");
  }

  @Test
  void whatIsNoLibraryIsAReasonAndNoException() throws Exception {
    Path text = Files.writeString(directory.resolve("text.so"), "no library");
    assertUnavailable(run("-D" + NativeLibrary.PROPERTY + "=" + text), "text.so");
  }

  @Test
  void machineThatTheJarHasNoLibraryForIsAReason() throws Exception {
    assertUnavailable(run("-Dos.arch=abacus"), "/native/linux-abacus/");
  }

  private static void assertUnavailable(List<String> output, String reason) {
    assertTrue(output.contains("loaded=false"), output::toString);
    assertTrue(output.contains("available=false"), output::toString);
    String because = line(output, "because=");
    assertTrue(because.contains(reason), output::toString);
    assertEquals(because, line(output, "required="));
  }

  private static String line(List<String> output, String key) {
    return output.stream()
        .filter(line -> line.startsWith(key))
        .map(line -> line.substring(key.length()))
        .findFirst()
        .orElseThrow(() -> new AssertionError(key + " in " + output));
  }

  private List<String> run(String... flags) throws IOException, InterruptedException {
    return run(Main.class, flags);
  }

  private List<String> run(Class<?> main, String... flags)
      throws IOException, InterruptedException {
    Path temporary = Files.createTempDirectory(directory, "tmp");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Djava.io.tmpdir=" + temporary);
    command.add("-XX:-UsePerfData");
    command.addAll(List.of(flags));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertTrue(process.waitFor(DEADLINE_S, TimeUnit.SECONDS), "still running");
    } finally {
      process.destroyForcibly();
    }
    List<String> lines = Files.readAllLines(output);
    assertEquals(0, process.exitValue(), lines::toString);
    return lines;
  }
}
