package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No memory is to be had for rings: calls go over gRPC, and the reason is logged, once. */
@Tag("slow")
class NoMemoryTest {
  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @Test
  void fullFileSystem() throws Exception {
    final List<String> lines = runOn("size=1m");
    checkCalls(lines, "No space left on device");
    checkLog(lines, "No space left on device");
  }

  @Test
  void readOnlyFileSystem() throws Exception {
    final List<String> lines = runOn("ro");
    checkCalls(lines, "Read-only file system");
    checkLog(lines, "Read-only file system");
  }

  private List<String> runOn(String mountOptions) throws Exception {
    assumeMounts(directory);
    final List<String> lines = new ArrayList<>();
    try (SystemChild child = SystemChild.onFileSystem(mountOptions, directory)) {
      for (String line = child.readLine(); !"end".equals(line); line = child.readLine()) {
        lines.add(line);
      }
      child.awaitEnd();
    }
    System.out.printf("no memory, %s: %s%n", mountOptions, lines);
    return lines;
  }

  /** Skips the test, with the reason, where no file system can be mounted. */
  static void assumeMounts(Path directory) throws Exception {
    final Process probe =
        new ProcessBuilder(
                "unshare", "-m", "sh", "-c", "mount -t tmpfs none '" + directory + "' 2>&1")
            .redirectErrorStream(true)
            .start();
    final String said =
        new String(probe.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
    final boolean mounts = probe.waitFor() == 0;
    if (!mounts) {
      System.out.println("no memory: not tested, for want of a mount namespace: " + said);
    }
    Assumptions.assumeTrue(mounts, said);
  }

  private static void checkCalls(List<String> lines, String reason) throws IOException {
    assertTrue(number(lines, "answered ") > 0, "answered"); // however busy the machine is
    assertEquals(0, number(lines, "failed "));
    assertEquals(0, number(lines, "ring "));
    assertTrue(number(lines, "grpc ") >= number(lines, "answered "), "calls over gRPC");
    assertTrue(value(lines, "reason ").contains(reason), value(lines, "reason "));
  }

  private static void checkLog(List<String> lines, String reason) {
    final List<String> logged = lines.stream().filter(line -> line.startsWith("logged ")).toList();
    assertEquals(
        1,
        logged.stream().filter(line -> line.contains("there is no ring")).count(),
        logged::toString);
    assertEquals(
        1,
        logged.stream().filter(line -> line.contains(reason) && !isOfServer(line)).count(),
        logged::toString);
  }

  private static boolean isOfServer(String line) {
    return line.contains("no ring is served");
  }

  private static long number(List<String> lines, String name) throws IOException {
    return Long.parseLong(value(lines, name));
  }

  private static String value(List<String> lines, String name) throws IOException {
    return lines.stream()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(name.length()))
        .findFirst()
        .orElseThrow(() -> new IOException("no " + name + "in " + lines));
  }
}
