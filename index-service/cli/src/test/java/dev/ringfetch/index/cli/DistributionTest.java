package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The files of the tar. In the place of the JVM there is a script that prints its arguments. */
@Timeout(120)
final class DistributionTest {
  private static final Path SOURCES = Path.of("src/main/dist");

  private static final String JAVA =
      """
      #!/bin/sh
      for each; do
        printf '%s\\n' "$each"
        case $each in -XX:ArchiveClassesAtExit=*) : >"${each#*=}" ;; esac
      done
      exit "${CODE:-0}"
      """;

  @TempDir Path root;
  private Path cache;
  private Path program;

  @BeforeEach
  void install() throws IOException {
    cache = root.resolve("cache");
    program = copy(SOURCES.resolve("bin/ringfetch"), root.resolve("opt/bin/ringfetch"));
    Files.createDirectories(root.resolve("opt/lib"));
    Files.writeString(root.resolve("opt/lib/a.jar"), "a");
    Files.writeString(root.resolve("opt/lib/b.jar"), "b");
    final Path java = Files.createDirectories(root.resolve("jdk/bin")).resolve("java");
    Files.writeString(java, JAVA);
    assertTrue(java.toFile().setExecutable(true));
  }

  private static Path copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    Files.copy(from, to);
    assertTrue(to.toFile().setExecutable(true));
    return to;
  }

  private Outcome run(Path script, Map<String, String> environment, String... arguments)
      throws Exception {
    final List<String> command = new ArrayList<>(List.of(script.toString()));
    command.addAll(List.of(arguments));
    final Path out = root.resolve("out");
    final Path err = root.resolve("err");
    final ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().keySet().removeIf(name -> name.matches("RINGFETCH_.*|J.*_OPTIONS|LC_.*"));
    builder.environment().put("LANG", "C.UTF-8");
    builder.environment().put("JAVA_HOME", root.resolve("jdk").toString());
    builder.environment().put("RINGFETCH_CACHE", cache.toString());
    builder.environment().putAll(environment);
    final Process process = builder.start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  /** The arguments of the JVM. */
  private List<String> jvm(String... arguments) throws Exception {
    return run(program, Map.of(), arguments).done().lines().toList();
  }

  private List<Path> archives() throws IOException {
    if (!Files.exists(cache)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(cache)) {
      return files.toList();
    }
  }

  @Test
  void aCommandGetsItsArgumentsAsTheyAreAlsoThroughALink() throws Exception {
    final Path link = Files.createDirectories(root.resolve("usr/bin")).resolve("ringfetch");
    Files.createSymbolicLink(link, Path.of("../../opt/bin/ringfetch"));
    final List<String> jvm =
        run(link, Map.of(), "put", "a  key", "*", "\u00e9").done().lines().toList();
    final int main = jvm.indexOf("dev.ringfetch.index.cli.IndexProgram");
    assertEquals(List.of("put", "a  key", "*", "\u00e9"), jvm.subList(main + 1, jvm.size()));
    final Path lib = root.toRealPath().resolve("opt/lib");
    assertEquals(
        List.of("-cp", lib.resolve("a.jar") + ":" + lib.resolve("b.jar")),
        jvm.subList(main - 2, main));
  }

  @Test
  void theFirstCommandThatSucceedsArchivesItsClasses() throws Exception {
    assertEquals(3, run(program, Map.of("CODE", "3"), "get", "a").code());
    assertFalse(jvm("get", "--help").toString().contains("ArchiveClassesAtExit"));
    assertFalse(jvm("scan").toString().contains("ArchiveClassesAtExit"));
    assertEquals(List.of(), archives());
    assertTrue(jvm("get", "a").toString().contains("-XX:ArchiveClassesAtExit=" + cache));
    final List<Path> first = archives();
    assertEquals(1, first.size(), first::toString);
    for (final String command : List.of("get", "scan", "serve")) {
      assertTrue(jvm(command).contains("-XX:SharedArchiveFile=" + first.get(0)), command);
    }
    assertEquals(first, archives());
    Files.writeString(root.resolve("opt/lib/a.jar"), "another", StandardOpenOption.APPEND);
    assertFalse(jvm("scan").toString().contains("SharedArchiveFile"));
    assertTrue(jvm("get", "a").toString().contains("ArchiveClassesAtExit"));
    assertEquals(1, archives().size());
    assertFalse(archives().equals(first));
  }

  @Test
  void anArchiveStaysInAnotherTimeZoneAndOneOfAKilledCommandGoes() throws Exception {
    final Path left = Files.createDirectories(cache).resolve("classes-1.jsa.7");
    Files.writeString(left, "half of it");
    assertTrue(jvm("get", "a").toString().contains("ArchiveClassesAtExit"));
    assertEquals(1, archives().size());
    assertFalse(Files.exists(left));
    for (final String zone : List.of("Asia/Tokyo", "UTC0")) {
      final Outcome later = run(program, Map.of("TZ", zone), "get", "a");
      assertTrue(later.done().contains("-XX:SharedArchiveFile=" + archives().get(0)), zone);
    }
  }

  @Test
  void withoutAPlaceForTheArchiveCommandsRun() throws Exception {
    Files.writeString(cache, "a file");
    assertFalse(jvm("get", "a").toString().contains("ArchiveClassesAtExit"));
  }

  @Test
  void flagsOfAShortCommandAreNotThoseOfAServer() throws Exception {
    assertTrue(jvm("get").containsAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")));
    assertFalse(jvm("serve").toString().matches(".*(TieredStopAtLevel|SerialGC).*"));
    final List<String> chosen =
        run(program, Map.of("RINGFETCH_JVM_FLAGS", "-Xmx64m -XX:+UseParallelGC"), "scan")
            .done()
            .lines()
            .toList();
    assertTrue(chosen.containsAll(List.of("-Xmx64m", "-XX:+UseParallelGC")), chosen::toString);
    assertFalse(chosen.contains("-XX:+UseSerialGC"), chosen::toString);
  }

  @Test
  void aMissingJvmIsOneLine() throws Exception {
    final Outcome missing = run(program, Map.of("JAVA_HOME", root.resolve("none").toString()));
    assertEquals(1, missing.code());
    assertEquals(1, missing.err().lines().count(), missing::toString);
    assertTrue(missing.err().contains("JAVA_HOME"), missing::toString);
  }

  @ParameterizedTest
  @CsvSource({"1.8.0_412,1", "11.0.2,1", "17.0.15,0", "17,0", "25-ea,0"})
  void aJvmThatIsTooOldIsOneLine(String version, int code) throws Exception {
    Files.writeString(root.resolve("jdk/release"), "JAVA_VERSION=\"" + version + "\"\n");
    final Outcome outcome = run(program, Map.of(), "scan");
    assertEquals(code, outcome.code(), outcome::toString);
    assertEquals(code, outcome.err().lines().count(), outcome::toString);
    assertEquals(code == 1, outcome.err().contains("version 17 or later"), outcome::toString);
  }

  /** As it is, and with each line that is a comment for a choice. */
  @Test
  void theConfigurationFileIsOneThatAServerTakes() throws Exception {
    final String given = Files.readString(SOURCES.resolve("conf/ringfetch.conf"));
    final String all = given.replaceAll("(?m)^# (?=[a-z-]+ = )", "");
    assertTrue(all.length() < given.length());
    for (final String text : List.of(given, all)) {
      final Path file = Files.writeString(root.resolve("ringfetch.conf"), text);
      final Outcome printed =
          new Invocation("localhost:1").run("serve", "--config=" + file, "--print-config");
      assertTrue(printed.done().contains("durability = disk\n"), printed::toString);
    }
  }

  @Test
  void theUnitAndTheImageStartTheProgram() throws Exception {
    final String unit = Files.readString(SOURCES.resolve("systemd/ringfetch.service"));
    assertTrue(unit.contains("\nExecStart=/opt/ringfetch/bin/ringfetch serve --config "), unit);
    final String backup = Files.readString(SOURCES.resolve("systemd/ringfetch-backup.service"));
    final String command = backup.replaceAll("(?s).*\nExecStart=\\S*/ringfetch (.*?)\n.*", "$1");
    new Invocation("localhost:1")
        .run(command.split(" ", -1))
        .fails(ExitCode.UNREACHABLE, "localhost:1"); // no misuse
    final String image = Files.readString(SOURCES.resolve("docker/Dockerfile"));
    assertTrue(image.contains("ENTRYPOINT [\"/opt/ringfetch/bin/ringfetch\"]"), image);
  }
}
