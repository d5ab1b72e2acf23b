package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that hold a lock, and are paused or killed meanwhile. */
@Timeout(180)
final class LockProcessTest {
  @TempDir Path directory;

  /** A process of {@link LockHolder}. */
  private static final class Holder implements AutoCloseable {
    private final Process process;
    private final BufferedReader out;

    Holder(int port, String name) throws IOException {
      final List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"));
      command.addAll(List.of("-cp", System.getProperty("java.class.path")));
      command.addAll(List.of(LockHolder.class.getName(), "" + port, name));
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      out = process.inputReader();
    }

    /** The fence in its next line, which begins with this word. */
    long next(String word) throws IOException {
      final String line = String.valueOf(out.readLine());
      assertTrue(line.startsWith(word + " "), line);
      return Long.parseLong(line.substring(word.length() + 1));
    }

    void signal(String name) throws Exception {
      final Process kill = new ProcessBuilder("kill", "-" + name, "" + process.pid()).start();
      assertEquals(0, kill.waitFor());
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  @Test
  void aPausedHolderLosesTheLockAndNothingIsOverwritten() throws Exception {
    try (TestServer server = TestServer.start(directory);
        IndexClient client = server.connect()) {
      final int port = Integer.parseInt(server.target().replaceFirst(".*:", ""));
      final HashIndex<String, Long> work =
          client.hash(LockHolder.WORK, Codec.string(), Codec.int64());
      work.put("entry", 0L);
      try (Holder one = new Holder(port, "one")) {
        final long first = one.next("held");
        final IndexLock lock = client.lock(LockHolder.LOCK).ttl(LockHolder.TTL);
        assertEquals(Optional.of("one"), lock.presentHolder());
        try (Holder two = new Holder(port, "two")) {
          one.signal("STOP");
          final long second = two.next("held");
          assertTrue(second > first, first + " " + second);
          while (work.get("entry").orElseThrow() != second) {
            Thread.sleep(1); // the test's timeout ends it
          }
          try (Watch<String, Long> watch = work.watch(WatchOptions.fromNow())) {
            one.signal("CONT");
            assertEquals(first, lostAfterRefusals(one));
            two.signal("KILL");
            final long third = one.next("held");
            assertTrue(third > second, second + " " + third);
            checkFences(watch, second, third);
          }
        }
      }
    }
  }

  /** The fence that a holder has lost; what it tried to write meanwhile was refused. */
  private static long lostAfterRefusals(Holder holder) throws IOException {
    while (true) {
      final String line = String.valueOf(holder.out.readLine());
      if (!line.startsWith("refused ")) {
        assertTrue(line.startsWith("lost "), line);
        return Long.parseLong(line.substring("lost ".length()));
      }
    }
  }

  /** All that is written has the fence of the present holder, or of a later one. */
  private static void checkFences(Watch<String, Long> watch, long from, long to) {
    long seen = from;
    while (seen < to) {
      final long next = watch.next(Duration.ofSeconds(60)).orElseThrow().value().orElseThrow();
      assertTrue(next == seen || next == to, "written=" + next + " after=" + seen);
      seen = next;
    }
  }
}
