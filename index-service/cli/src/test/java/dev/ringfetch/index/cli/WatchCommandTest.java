package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command that prints changes. */
@Timeout(60)
final class WatchCommandTest {
  @TempDir static Path directory;
  private static TestServer server;

  @BeforeAll
  static void start() throws IOException {
    server = TestServer.start(directory, TestServer.MEMORY);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /** A watch that runs beside the test. */
  private static final class Running {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final StopSignal stop = new StopSignal();
    private final CompletableFuture<Outcome> outcome;

    Running(String... args) {
      final Invocation watch =
          new Invocation(server.target()).shm(directory).stop(stop).output(out);
      outcome = CompletableFuture.supplyAsync(() -> watch.run(args));
    }

    List<String> lines() {
      return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** Waits for so many lines, which a watch prints although it goes on. */
    List<String> lines(int count) throws InterruptedException {
      while (lines().size() < count) {
        assertTrue(!outcome.isDone(), () -> outcome.join().toString());
        TimeUnit.MILLISECONDS.sleep(5);
      }
      return lines();
    }

    /** Ends the watch as Ctrl-C does, and returns its last token. */
    String end() throws Exception {
      stop.request();
      final Outcome ended = outcome.get(30, TimeUnit.SECONDS);
      assertEquals(ExitCode.INTERRUPTED, ended.code(), ended::toString);
      final String note = "go on with --from ";
      return ended.err().startsWith(note) ? ended.err().substring(note.length()).strip() : null;
    }
  }

  /** Writes until a watch has begun: it prints what is written behind its begin. */
  private static void await(Running watch, String index) throws InterruptedException {
    while (watch.lines().isEmpty()) {
      server.run("put", "-i", index, "begin", "").done();
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static void begin(String index) {
    server.run("put", "-i", index, "begin", "").done();
  }

  @Test
  void changesArePrintedUntilASignalAndGoOnFromTheToken() throws Exception {
    begin("tree");
    final Running first = new Running("watch", "tree");
    await(first, "tree");
    server.run("put", "-i", "tree", "a", "first\nline").done();
    while (!first.lines().contains("put     a  first\\nline")) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    final String token = first.end();
    server.run("put", "-i", "tree", "b", "2").done();
    server.run("delete", "-i", "tree", "a").done();
    final Running second = new Running("watch", "tree", "--from=" + token);
    assertEquals(List.of("put     b  2", "delete  a"), second.lines(2));
    second.end();
    final Running keys = new Running("watch", "tree", "--keys-only", "--from=" + token);
    assertEquals(List.of("put     b", "delete  a"), keys.lines(2));
    keys.end();
    final Running prefix = new Running("watch", "tree", "--prefix=b", "--from=" + token);
    assertEquals(List.of("put     b  2"), prefix.lines(1));
    prefix.end();
    final Running json = new Running("watch", "tree", "--json", "--key=b", "--from=" + token);
    final String line = json.lines(1).get(0);
    assertTrue(
        line.matches(
            "\\{\"kind\":\"put\",\"key\":\"b\",\"value\":\"2\",\"version\":\\d+,"
                + "\"created\":true,\"token\":\"[\\w-]+\"}"),
        line);
    assertEquals(null, json.end());
  }

  private static void putAt(String key, String box) {
    server.run("put", "-i", "map", key, "v", "--box=" + box).done();
  }

  @Test
  void whatCrossesABoxIsPrinted() throws Exception {
    putAt("begin", "1,1");
    final Running all = new Running("watch", "map");
    while (all.lines().isEmpty()) {
      putAt("begin", "1,1");
      TimeUnit.MILLISECONDS.sleep(20);
    }
    assertEquals("put     begin  1.0,1.0  v", all.lines().get(0));
    final String token = all.end();
    putAt("a", "1,1");
    putAt("a", "2,2,9,9");
    putAt("a", "8,8");
    putAt("a", "2,1");
    server.run("delete", "-i", "map", "a").done();
    putAt("b", "7,7");
    final Running watch = new Running("watch", "map", "--box=0,0,2,2", "--from=" + token);
    assertEquals(
        List.of(
            "enter   a  1.0,1.0  v",
            "move    a  2.0,2.0,9.0,9.0  v",
            "leave   a  8.0,8.0  v",
            "enter   a  2.0,1.0  v",
            "leave   a"),
        watch.lines(5));
    watch.end();
    final Running json = new Running("watch", "map", "--json", "--box=8,8", "--from=" + token);
    final String line = json.lines(1).get(0);
    assertTrue(
        line.matches(
            "\\{\"kind\":\"put\",\"crossing\":\"enter\",\"key\":\"a\",\"box\":"
                + "\"2.0,2.0,9.0,9.0\",\"value\":\"v\",\"version\":\\d+,\"created\":false,.*"),
        line);
    json.end();
    server.run("watch", "default", "--box=1,1").fails(1, "kind hash", "--box needs");
  }

  @Test
  void failuresHaveTheirExitCodes() throws Exception {
    server.run("watch", "none").fails(ExitCode.NOT_FOUND, "no index is called 'none'");
    server.run("watch", "default", "--prefix=a").fails(1, "hash index", "needs");
    begin("other");
    server.run("watch", "other", "--from=AAAA").fails(1, "'AAAA' is no token");
    new Invocation("localhost:1")
        .run("watch", "other", "--timeout=2s")
        .fails(ExitCode.UNREACHABLE, "no index server");
    begin("dropped");
    final Running watch = new Running("watch", "dropped");
    await(watch, "dropped");
    server.run("drop", "dropped").done();
    final Outcome ended = watch.outcome.get(30, TimeUnit.SECONDS);
    assertEquals(ExitCode.FAILED, ended.code(), ended::toString);
    ended.says("the index was dropped");
  }
}
