package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.SequenceInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that are not there, are something else, are full, or end; readers that go. */
final class TroubleTest {
  @TempDir Path directory;

  private static final String[][] COMMANDS = {
    {"get", "a"},
    {"put", "a", "b"},
    {"list"},
    {"scan"},
    {"create", "a"},
    {"load", "-"},
    {"stat"},
    {"cluster"}
  };

  @Test
  void withoutAServerEachCommandFailsAtOnce() throws IOException {
    final int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    for (final String[] command : COMMANDS) {
      new Invocation("localhost:" + port)
          .run(command)
          .fails(
              ExitCode.UNREACHABLE,
              "no index server at localhost:" + port,
              "Connection refused",
              "serve");
    }
  }

  @Test
  void aServerAloneIsNoCluster() throws IOException {
    try (TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      server.run("cluster").fails(ExitCode.FAILED, "belongs to no cluster");
    }
  }

  @Test
  void aScanThatCannotBeDirectSaysSo() throws IOException {
    try (TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      server.run("create", "hashed", "--kind", "hash").done();
      server.run("put", "-i", "hashed", "a", "1").done();
      final Outcome outcome = server.run("scan", "-i", "hashed", "--direct");
      assertTrue(outcome.done().contains("1"));
      outcome.says("read by calls, not directly", "this kind of index has none of this sort");
    }
  }

  @Test
  void aCoordinatorThatDoesNotAnswerIsNamed() throws IOException {
    for (final String[] command :
        new String[][] {
          {"cluster", "--timeout=300ms"}, {"cluster", "recover", "--timeout=300ms"}
        }) {
      new Invocation("zk://localhost:1/x")
          .run(command)
          .fails(ExitCode.UNREACHABLE, "the coordinator does not say", "zk://localhost:1/x");
    }
    new Invocation("zk://localhost:abc/x").run("get", "k").fails(ExitCode.MISUSE, "localhost:abc");
  }

  @Test
  void aCoordinatorThatDoesNotAnswerIsNotWaitedForLongerThanTheTimeout() {
    final long beginNs = System.nanoTime();
    new Invocation("zk://localhost:1/x")
        .run("list", "--timeout=300ms")
        .fails(ExitCode.UNREACHABLE, "the coordinator does not say", "within 300 ms");
    final Duration took = Duration.ofNanos(System.nanoTime() - beginNs);
    assertTrue(
        took.compareTo(Duration.ofSeconds(9)) < 0, took::toString); // the client's own is 10 s
  }

  @Test
  void aServerThatSaysNothingIsNotWaitedForLongerThanTheTimeout() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
      new Invocation("localhost:" + silent.getLocalPort())
          .run("get", "a", "--timeout=300ms")
          .fails(ExitCode.UNREACHABLE, "no answer within 300 ms", "--timeout");
    }
  }

  @Test
  void aNodeThatSaysNothingIsLeftForAnother() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 9, InetAddress.getLoopbackAddress());
        TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      final String both = "localhost:" + silent.getLocalPort() + "," + server.target();
      for (final String[] command : new String[][] {{"list"}, {"stat", "--once"}}) {
        final String out = new Invocation(both).shm(directory).run(command).done();
        assertTrue(out.contains("default"), out);
      }
    }
  }

  /** Answers every connection with the same text, and closes it. */
  private static void answer(ServerSocket server, String text) {
    final Thread thread =
        new Thread(
            () -> {
              while (!server.isClosed()) {
                try (Socket socket = server.accept()) {
                  socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
                  socket.shutdownOutput();
                  socket.getInputStream().readNBytes(24);
                } catch (IOException e) {
                  // The next one, or the end.
                }
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  @Test
  void aPortOfSomethingElseIsSaidToBeThat() throws Exception {
    for (final String text :
        new String[] {
          "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
          "SSH-2.0-OpenSSH_9.2\r\n",
          "220 mail.example.com ESMTP ready, and a long line of other text\r\n"
        }) {
      try (ServerSocket other = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
        answer(other, text);
        final int port = other.getLocalPort();
        new Invocation("localhost:" + port)
            .run("get", "a", "--timeout=60s")
            .fails(ExitCode.UNREACHABLE, "localhost:" + port, "--server");
      }
    }
    final Server grpc = NettyServerBuilder.forPort(0).build().start();
    try {
      new Invocation("localhost:" + grpc.getPort())
          .run("list")
          .fails(ExitCode.UNREACHABLE, "serves no such call of an index", "--server");
    } finally {
      grpc.shutdownNow();
    }
  }

  @Test
  void fullMemoryNamesTheLines() throws IOException {
    try (TestServer server = TestServer.start(directory, 16L << 20)) {
      server.run("create", "full").done();
      final StringBuilder csv = new StringBuilder("key,value\n");
      for (int i = 0; i < 400; i++) {
        csv.append('k').append(i).append(',').append("x".repeat(50_000)).append('\n');
      }
      final Outcome load = server.pipe(csv.toString(), "load", "-i", "full", "-");
      assertEquals(ExitCode.FAILED, load.code());
      load.says("stdin: gave up at line ", "the server is at a limit: index memory is full");
      final String count = server.run("count", "-i", "full").done().strip();
      assertTrue(load.out().startsWith("loaded " + count + " entries"), load + " " + count);
      server.run("put", "-i", "full", "more", "x".repeat(900_000)).fails(1, "at a limit");
      server.run("get", "-i", "full", "more").fails(ExitCode.NOT_FOUND, "more");
      // Equal values are there already: only those with a time to live were written now.
      final Outcome again = server.pipe(csv.toString(), "load", "-i", "full", "--ttl=1h", "-");
      assertEquals(ExitCode.FAILED, again.code());
      final Path dump = directory.resolve("full.csv");
      server.run("dump", "-i", "full", dump.toString()).done();
      final List<String> lines = Files.readAllLines(dump);
      final long written = lines.stream().skip(1).filter(line -> !line.endsWith(",")).count();
      assertTrue(again.out().startsWith("loaded " + written + " entr"), again + " " + written);
    }
  }

  /** An input without an end, which says when so much of it was read. */
  @SuppressWarnings("InputStreamSlowMultibyteRead")
  private static final class Endless extends InputStream {
    private final CompletableFuture<Void> read = new CompletableFuture<>();
    private byte[] line = "key,value\n".getBytes(StandardCharsets.US_ASCII);
    private int position;
    private int number;

    @Override
    public int read() {
      if (position == line.length) {
        line = ("k" + ++number + ",v\n").getBytes(StandardCharsets.US_ASCII);
        position = 0;
        if (number == 20_000) {
          read.complete(null);
        }
      }
      return line[position++];
    }
  }

  @Tag("slow")
  @Test
  void aServerThatEndsInTheMidstEndsTheLoadWithTheLinesInDoubt() throws Exception {
    final TestServer server = TestServer.start(directory, TestServer.MEMORY);
    final Endless input = new Endless();
    final Invocation load = new Invocation(server.target()).input(input);
    final CompletableFuture<Outcome> outcome =
        CompletableFuture.supplyAsync(
            () ->
                load.run(
                    "load",
                    "-i",
                    "endless",
                    "-",
                    "--timeout=10s", // for which the client tries to reach the server again
                    "--shm-directory=" + directory));
    input.read.get(60, TimeUnit.SECONDS);
    server.close();
    final Outcome lost = outcome.get(60, TimeUnit.SECONDS);
    lost.says("stdin: lines ", " may be loaded or not, what follows is not");
    assertEquals(ExitCode.UNREACHABLE, lost.code(), lost::toString);
    assertTrue(lost.out().startsWith("loaded "), lost.out());
  }

  @Test
  void aSignalEndsALoadInOrder() throws Exception {
    try (TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      final StopSignal stop = new StopSignal();
      final Endless input = new Endless();
      final Invocation load =
          new Invocation(server.target()).shm(directory).input(input).stop(stop);
      final CompletableFuture<Outcome> outcome =
          CompletableFuture.supplyAsync(() -> load.run("load", "-i", "stopped", "-", "--json"));
      input.read.get(60, TimeUnit.SECONDS);
      stop.request();
      final Outcome ended = outcome.get(60, TimeUnit.SECONDS);
      assertEquals(ExitCode.INTERRUPTED, ended.code(), ended::toString);
      final String count = server.run("count", "-i", "stopped").done().strip();
      assertTrue(ended.out().contains("\"loaded\":" + count + ","), ended + " " + count);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatTricklesInIsWrittenAtOnce(boolean compressed) throws Exception {
    final PipedOutputStream pipe = new PipedOutputStream();
    try (TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      final Invocation load =
          new Invocation(server.target()).shm(directory).input(new PipedInputStream(pipe));
      final CompletableFuture<Outcome> outcome =
          CompletableFuture.supplyAsync(() -> load.run("load", "-i", "slow", "-"));
      final OutputStream source = compressed ? new GZIPOutputStream(pipe, true) : pipe;
      source.write("{\"key\":\"a\",\"value\":1}\n".getBytes(StandardCharsets.US_ASCII));
      source.flush();
      for (int i = 0; i < 200 && server.run("get", "-i", "slow", "a").code() != 0; i++) {
        Thread.sleep(20);
      }
      server.run("get", "-i", "slow", "a").prints("1");
      source.close();
      outcome.get(60, TimeUnit.SECONDS).done();
    }
  }

  /** An output whose reader goes after so many bytes. */
  private static final class Gone extends OutputStream {
    private final String reason;
    private int left = 1000;

    Gone(String reason) {
      this.reason = reason;
    }

    @Override
    public void write(int b) throws IOException {
      if (left-- <= 0) {
        throw new IOException(reason);
      }
    }
  }

  @Test
  void aReaderThatGoesEndsTheCommandQuietly() throws IOException {
    try (TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      final StringBuilder csv = new StringBuilder("key,value\n");
      for (int i = 0; i < 3_000; i++) {
        csv.append('k').append(i).append(',').append("some value of it\n");
      }
      server.pipe(csv.toString(), "load", "-i", "pipe", "-").done();
      for (final String command : new String[] {"scan", "dump", "scan --json"}) {
        final String[] args = (command + " -i pipe").split(" ", -1);
        final Outcome gone =
            new Invocation(server.target())
                .shm(directory)
                .output(new Gone("Broken pipe"))
                .run(args);
        assertEquals(ExitCode.BROKEN_PIPE, gone.code(), gone::toString);
        assertEquals("", gone.err());
      }
      new Invocation(server.target())
          .shm(directory)
          .output(new Gone("No space left on device"))
          .run("dump", "-i", "pipe")
          .fails(1, "No space left on device");
    }
  }

  @Test
  void aChangeIsSaidToBeDoneWhereTheOutputCannotBeWritten() throws IOException {
    try (TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      for (final String command :
          new String[] {
            "put -i x k v",
            "create y",
            "create y --json",
            "load -i x -",
            "delete -i x k",
            "delete -i x --all",
            "drop y"
          }) {
        final Gone full = new Gone("No space left on device");
        full.left = 0;
        new Invocation(server.target())
            .shm(directory)
            .output(full)
            .input("key,value\nl,1\n")
            .run(command.split(" ", -1))
            .says("done, but the output cannot be written: No space left on device");
      }
      server.run("count", "-i", "x").prints("0");
      final Gone gone = new Gone("Broken pipe");
      gone.left = 0;
      final Outcome unread =
          new Invocation(server.target())
              .shm(directory)
              .output(gone)
              .run("put", "-i", "x", "k", "v");
      assertEquals(ExitCode.BROKEN_PIPE, unread.code());
      assertEquals("", unread.err());
    }
  }

  @Test
  void theOutputThatIsTheWorkIsNotDoneWhereItCannotBeWritten() throws IOException {
    try (TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      server.run("put", "-i", "x", "k", "v").done();
      for (final String command : new String[] {"get -i x k", "list", "dump -i x"}) {
        final Gone full = new Gone("No space left on device");
        full.left = 0;
        final Outcome outcome =
            new Invocation(server.target())
                .shm(directory)
                .output(full)
                .run(command.split(" ", -1))
                .fails(ExitCode.FAILED, "No space left on device");
        assertFalse(outcome.err().contains("done"), outcome.err());
      }
    }
  }

  @Test
  void anErrorOfTheInputEndsTheCommand() throws IOException {
    try (TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      new Invocation(server.target())
          .shm(directory)
          .input(
              new InputStream() {
                @Override
                public int read() {
                  throw new OutOfMemoryError("of a test");
                }

                @Override
                public int read(byte[] bytes, int offset, int length) {
                  return read();
                }
              })
          .run("put", "k", "--file=-")
          .fails(ExitCode.FAILED, "out of memory");
    }
  }

  @Test
  void theClientsOwnLimitIsNotThatOfTheServer() {
    final String own = "as many operations are under way as may be: maxInFlight=1";
    assertEquals(own, limit(own));
    assertEquals("the server is at a limit: memory is full", limit("memory is full"));
  }

  private static String limit(String description) {
    return FailureReport.of(
            Status.RESOURCE_EXHAUSTED.withDescription(description).asRuntimeException(),
            "localhost:1",
            "5 s")
        .line();
  }

  /** Runs commands that wait for input, which never comes, and stops them once they read. */
  private Outcome interrupted(TestServer server, boolean person, String input, String... args)
      throws Exception {
    final StopSignal stop = new StopSignal();
    final CountDownLatch reading = new CountDownLatch(1);
    final InputStream begin = new ByteArrayInputStream(input.getBytes(StandardCharsets.US_ASCII));
    final InputStream silent =
        new SequenceInputStream(
            begin,
            new InputStream() {
              @Override
              public int read() {
                reading.countDown();
                while (true) {
                  LockSupport.park();
                }
              }

              @Override
              public int read(byte[] bytes, int offset, int length) {
                return read();
              }
            });
    final Invocation invocation =
        new Invocation(server.target()).shm(directory).input(silent).stop(stop);
    if (person) {
      invocation.person();
    }
    final CompletableFuture<Outcome> outcome =
        CompletableFuture.supplyAsync(() -> invocation.run(args));
    assertTrue(reading.await(60, TimeUnit.SECONDS));
    stop.request();
    return outcome.get(60, TimeUnit.SECONDS);
  }

  @Test
  void aSignalEndsTheWaitForInput() throws Exception {
    try (TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      server.run("put", "-i", "asked", "k", "v").done();
      for (final String[] command :
          new String[][] {{"delete", "-i", "asked", "--prefix=k"}, {"drop", "asked"}}) {
        final Outcome asked = interrupted(server, true, "", command);
        assertEquals(ExitCode.INTERRUPTED, asked.code(), asked::toString);
        asked.says("[y/N]");
      }
      server.run("get", "-i", "asked", "k").prints("v");
      final Outcome load =
          interrupted(server, false, "key,value\na,1\n", "load", "-i", "asked", "-");
      assertEquals(ExitCode.INTERRUPTED, load.code(), load::toString);
      assertTrue(load.out().startsWith("loaded 1 entry into 'asked'"), load::toString);
      assertEquals("", load.err());
      final Outcome put = interrupted(server, false, "x", "put", "-i", "asked", "k", "--file=-");
      assertEquals(ExitCode.INTERRUPTED, put.code(), put::toString);
      assertEquals("", put.err());
      interrupted(server, false, "list\n", "shell");
    }
  }

  @Test
  void aPipeWithoutAWriterIsWaitedForUntilTheSignal() throws Exception {
    final Path pipe = directory.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).inheritIO().start().waitFor());
    try (TestServer server = TestServer.start(directory, TestServer.MEMORY)) {
      final StopSignal stop = new StopSignal();
      final CompletableFuture<Outcome> outcome =
          CompletableFuture.supplyAsync(
              () ->
                  new Invocation(server.target())
                      .shm(directory)
                      .stop(stop)
                      .run("load", pipe.toString()));
      stop.request(); // it may wait by now, or come to it
      assertEquals(ExitCode.INTERRUPTED, outcome.get(60, TimeUnit.SECONDS).code());
    }
  }

  @Test
  void aStackTraceComesOnlyIfItIsWanted() {
    final Outcome plain = new Invocation("localhost:1").run("list");
    assertFalse(plain.err().contains("\tat "), plain.err());
    assertTrue(new Invocation("localhost:1").run("list", "--verbose").err().contains("\tat "));
    final Invocation traced = new Invocation("localhost:1").environment("RINGFETCH_TRACE", "1");
    assertTrue(traced.run("list").err().contains("\tat "));
  }
}
