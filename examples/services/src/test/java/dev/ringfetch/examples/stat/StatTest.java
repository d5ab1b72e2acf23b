package dev.ringfetch.examples.stat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.counters.CounterFiles;
import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class StatTest {
  private static final int LIMIT_S = 30;

  @TempDir Path directory;
  private int exitCode;

  private String stat(String... options) {
    final StringWriter text = new StringWriter();
    final List<String> arguments =
        new ArrayList<>(List.of("--shm-directory", directory.toString()));
    arguments.addAll(List.of(options));
    final CommandLine command = new CommandLine(new Stat());
    command.setOut(new PrintWriter(text));
    exitCode = command.execute(arguments.toArray(new String[0]));
    return text.toString();
  }

  private Path serverFile() throws Exception {
    return CounterFiles.find().list(directory).get(0);
  }

  @Test
  void saysThatThereIsNothing() {
    assertTrue(stat().startsWith("no counters below " + directory), stat());
    assertEquals(1, exitCode);
    assertTrue(stat("--pid", "1").startsWith("no counters of process 1 below"), stat());
    assertEquals(1, exitCode);
  }

  /** A detail may hold a text that another host has sent. */
  @Test
  void textsThatCouldHarmATerminalAreNotPrinted() {
    assertEquals(
        "a? ?b?? ?é???", Tables.printable("a\n \u001bb\u009b\u202e \u0000é\u2028\u2029\ud800"));
  }

  @Test
  void aPauseOfNothingIsRefused() {
    stat("--watch", "0");
    assertEquals(2, exitCode);
  }

  /** Reads what there is each time, and ends when its thread is told to. */
  @Test
  void watchesUntilItIsInterrupted() throws Exception {
    final BlockingQueue<String> printed = new LinkedBlockingQueue<>();
    final AtomicInteger code = new AtomicInteger(-1);
    final CommandLine command = new CommandLine(new Stat());
    command.setOut(
        new PrintWriter(
            new StringWriter() {
              @Override
              public void flush() { // after each time
                printed.add(getBuffer().toString());
                getBuffer().setLength(0);
              }
            }));
    final String[] arguments = {"--shm-directory", directory.toString(), "--watch", "1"};
    final Thread watcher = new Thread(() -> code.set(command.execute(arguments)), "watcher");
    watcher.setDaemon(true);
    watcher.start();
    try {
      final String nothing = "no counters below " + directory;
      assertTrue(next(printed).startsWith(nothing));
      final String second = next(printed);
      assertTrue(second.startsWith(System.lineSeparator() + nothing), second);
      final RingServer server =
          RingServerBuilder.forPort(0)
              .shmDirectory(directory)
              .addService(new IndexService(new Indexes()))
              .build()
              .start();
      try {
        final long startNs = System.nanoTime();
        String text = next(printed);
        while (!text.contains("process " + ProcessHandle.current().pid() + ", running")) {
          assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(LIMIT_S), text);
          text = next(printed);
        }
      } finally {
        server.shutdownNow();
        assertTrue(server.awaitTermination(LIMIT_S, TimeUnit.SECONDS));
      }
    } finally {
      watcher.interrupt();
      watcher.join(TimeUnit.SECONDS.toMillis(LIMIT_S));
    }
    assertFalse(watcher.isAlive(), "it goes on");
    assertTrue(code.get() >= 0, "code=" + code);
  }

  private static String next(BlockingQueue<String> printed) throws InterruptedException {
    final String text = printed.poll(LIMIT_S, TimeUnit.SECONDS);
    assertNotNull(text, "nothing was printed any more");
    return text;
  }

  @Test
  void printsWhatAProcessCounts() throws Exception {
    final RingServer server =
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .addService(new IndexService(new Indexes()))
            .build()
            .start();
    final RingChannel channel =
        RingChannelBuilder.forTarget("localhost:" + server.getPort())
            .usePlaintext()
            .shmDirectory(directory)
            .requireFabric()
            .build();
    try {
      final GetRequest request =
          GetRequest.newBuilder().setKey(ByteString.copyFromUtf8("key")).build();
      for (int i = 0; i < 321; i++) {
        assertFalse(
            IndexGrpc.newBlockingStub(channel)
                .withDeadlineAfter(LIMIT_S, TimeUnit.SECONDS)
                .get(request)
                .hasEntry());
      }
      final long pid = ProcessHandle.current().pid();
      final long startNs = System.nanoTime();
      String text = stat("--pid", Long.toString(pid));
      // A caller may have its answer before the session that brought it has counted the frame.
      while (!text.matches(
          "(?s).*all channels +321 +0 .*all backends +321 +0\\R"
              + " +#\\d+ localhost\\V+ 321 +0  of #\\d+, READY, shm: \\V+\\R.*"
              + "all servers +321 +0 .*#\\d+ client shm \\S+ +321 +321 +321 .*")) {
        assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(LIMIT_S), text);
        text = stat("--pid", Long.toString(pid));
      }
      assertEquals(0, exitCode);
      assertTrue(text.startsWith("process " + pid + ", running"), text);
      assertTrue(text.matches("(?s).*#\\d+ localhost:" + server.getPort() + " +321 .*"), text);
      assertTrue(text.contains("ringfetch-client-0"), text);
      assertTrue(stat("--pid", Long.toString(pid + 1)).startsWith("no counters of process"), text);

      // Whatever else lies there is said, and the rest is printed.
      final Path root = serverFile().getParent().getParent();
      final Path garbage = Files.createDirectory(root.resolve("1-00000000000000aa"));
      Files.write(garbage.resolve("counters"), new byte[10_000]);
      Files.createDirectory(root.resolve("2-00000000000000aa"));
      Files.createDirectories(root.resolve("3-00000000000000aa").resolve("counters"));
      final String beside = stat();
      assertEquals(0, exitCode);
      assertTrue(
          beside.startsWith(
              "process 1-00000000000000aa: cannot be read: not a file of counters, or not yet"),
          beside);
      assertTrue(beside.contains("process " + pid + ", running"), beside);
    } finally {
      channel.shutdownNow();
      server.shutdownNow();
      assertTrue(channel.awaitTermination(LIMIT_S, TimeUnit.SECONDS));
      assertTrue(server.awaitTermination(LIMIT_S, TimeUnit.SECONDS));
    }
    assertTrue(stat().contains("no counters below"), "gone with the last");
  }
}
