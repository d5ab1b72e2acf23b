package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code examples/run}, with what it starts: in a copy, where all is built. */
final class LauncherTest {
  @TempDir static Path root;

  @BeforeAll
  static void copy() throws IOException {
    Files.createDirectories(root.resolve("examples/target"));
    final Path script = root.resolve("examples/run");
    Files.copy(Path.of("../../examples/run"), script);
    assertTrue(script.toFile().setExecutable(true));
    for (final String sources : List.of("proto", "rpc-core", "rpc-rdma/target", "index-service")) {
      Files.createDirectories(root.resolve(sources));
    }
    Files.writeString(root.resolve("pom.xml"), "");
    Files.writeString(
        root.resolve("rpc-rdma/target/ringfetch-rpc-rdma-0-SNAPSHOT.jar"),
        "/libringfetch-verbs.so");
    final Path target = Files.createDirectories(root.resolve("index-service/cli/target/classes"));
    final String classes =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .filter(path -> new File(path).exists())
            .map(path -> new File(path).getAbsolutePath())
            .collect(Collectors.joining(File.pathSeparator));
    Files.writeString(target.resolveSibling("class-path"), classes);
    Files.writeString(root.resolve("examples/target/built-cli"), "");
  }

  /** Runs a command of bash in which RUN stands for the script. */
  private static Outcome bash(Map<String, String> environment, String command) throws Exception {
    final Path out = Files.createTempFile(root, "out", "");
    final Path err = Files.createTempFile(root, "err", "");
    final ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", command.replace("RUN", root.resolve("examples/run") + ""))
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().putAll(environment);
    final Process process = builder.start();
    assertTrue(process.waitFor(280, TimeUnit.SECONDS));
    return new Outcome(process.exitValue(), text(out), text(err));
  }

  private static String text(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }

  @Test
  void aUserChoosesTheCollectorAndWhatTheJvmLogs() throws Exception {
    final Outcome help =
        bash(Map.of("JAVA_TOOL_OPTIONS", "-XX:+UseParallelGC -Xlog:gc"), "RUN index scan --help");
    assertTrue(help.done().startsWith("Usage: examples/run index scan"), help::toString);
  }

  @Tag("slow")
  @Test
  void anArchiveThatDoesNotFitIsPassedOverInSilence() throws Exception {
    final String archives = root.resolve("index-service/cli/target/classes-").toString();
    final Outcome help =
        bash(
            Map.of(),
            "echo none >"
                + archives
                + "$(\"$JAVA_HOME/bin/java\" -version 2>&1 | cksum | tr -d ' ').jsa;"
                + " RUN index scan --help");
    assertTrue(help.done().startsWith("Usage: examples/run index scan"), help::toString);
    assertEquals("", help.err());
  }

  @Tag("slow")
  @Test
  void namesAreReadInALocaleThatIsNotInstalled() throws Exception {
    final Outcome refused =
        bash(Map.of("LC_ALL", "xx_XX.UTF-8"), "RUN index stat --interval=\u00fcber");
    assertTrue(refused.err().contains("\u00fcber"), refused::toString);
    final Outcome other = // bytes that are no UTF-8
        bash(Map.of("LC_ALL", "xx_XX"), "RUN index drop $'\\xfc' --yes --server=localhost:1");
    assertEquals(ExitCode.MISUSE, other.code(), other::toString);
    assertTrue(other.err().contains("characters that were lost"), other::toString);
  }

  @Test
  void closedStreamsAreNotThoseOfAnotherFile() throws Exception {
    final Outcome in = bash(Map.of(), "RUN index shell <&-");
    assertEquals(ExitCode.FAILED, in.code(), in::toString);
    in.says("stdin: Bad file descriptor");
  }
}
