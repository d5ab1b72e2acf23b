package dev.ringfetch.system;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Status;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Somebody sets the wall clock by hours while calls with deadlines are under way: none ends early,
 * and none goes on for ever.
 *
 * <p>Server and client run in a JVM under libfaketime, which takes the clock from a file that the
 * test writes. It leaves CLOCK_MONOTONIC alone, as the kernel does when the time is set: what is
 * measured with System.nanoTime must not notice.
 */
class ClockTest {
  private static final String LIBRARY = "faketime/libfaketimeMT.so.1";
  private static final long HOUR_MS = TimeUnit.HOURS.toMillis(1);
  private static final long DEADLINE_MS = 3_000;
  private static final int LIMIT_S = 60;

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @Test
  @Tag("slow")
  void deadlinesDoNotNotice() throws Exception {
    final Path library = library();
    if (library == null) {
      System.out.println("clock jumps: not tested, there is no " + LIBRARY);
    }
    Assumptions.assumeTrue(library != null, "no " + LIBRARY + " (Debian: libfaketime)");
    final Path clock = Files.writeString(directory.resolve("clock"), "+0");
    try (SystemChild child =
        SystemChild.start(
            List.of(
                "env",
                "LD_PRELOAD=" + library,
                "FAKETIME_TIMESTAMP_FILE=" + clock,
                "FAKETIME_CACHE_DURATION=1", // or every look at the time would read the file
                "FAKETIME_DONT_FAKE_MONOTONIC=1",
                "DONT_FAKE_MONOTONIC=1", // the name that older ones know
                "FAKETIME_FORCE_MONOTONIC_FIX=0"), // else every timed wait of the JVM spins
            List.of("-XX:TieredStopAtLevel=1"),
            Child.class,
            List.of(directory.toString()))) {
      assertEquals("on a ring", child.readLine());
      assertEquals("pending", child.ask("begin 3600000")); // to the end of the test
      for (final int hours : new int[] {5, -3, 0}) {
        final long startNs = System.nanoTime();
        assertEquals("pending", child.ask("begin " + DEADLINE_MS));
        jump(child, clock, hours);
        assertEquals("DEADLINE_EXCEEDED", child.ask("await"));
        final long ms = Await.millisSince(startNs); // by a clock that was left alone
        assertTrue(ms >= DEADLINE_MS, () -> "too early: ms=" + ms);
        assertEquals("500 answered", child.ask("calls"));
      }
      assertEquals("pending", child.ask("patient"));
    }
  }

  /** Sets the clock, and sees to it that the child has noticed. */
  private static void jump(SystemChild child, Path clock, int hours) throws Exception {
    Files.writeString(clock, (hours < 0 ? "" : "+") + hours + "h");
    Await.until(
        "a jump of the clock to " + hours + " h",
        LIMIT_S,
        () -> {
          final long offMs = child.count("wall") - System.currentTimeMillis();
          return Math.abs(offMs - hours * HOUR_MS) < HOUR_MS / 2;
        });
  }

  /** The library where distributions put it, or null. */
  private static Path library() throws IOException {
    for (final String root : new String[] {"/usr/lib", "/usr/lib64", "/usr/local/lib"}) {
      final Path folder = Path.of(root);
      if (Files.exists(folder.resolve(LIBRARY))) {
        return folder.resolve(LIBRARY);
      }
      if (Files.isDirectory(folder)) {
        try (DirectoryStream<Path> machines = Files.newDirectoryStream(folder, "*-linux-gnu*")) {
          for (final Path machine : machines) {
            if (Files.exists(machine.resolve(LIBRARY))) {
              return machine.resolve(LIBRARY);
            }
          }
        }
      }
    }
    return null;
  }

  /** Server and client, and calls that are never answered. */
  static final class Child {
    private static final GetRequest HANGING = HashIndex.hangingRequest();

    private Child() {}

    public static void main(String[] args) throws Exception {
      final Path directory = Path.of(args[0]);
      final RingServer server =
          RingServerBuilder.forPort(0)
              .shmDirectory(directory)
              .addService(new HashIndex())
              .build()
              .start();
      final RingChannel channel =
          SystemChild.channelBuilder(directory, server.getPort()).requireFabric().build();
      SystemChild.awaitRing(channel);
      System.out.println("on a ring");
      Pending patient = null;
      Pending last = null;
      final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
      String line;
      while ((line = input.readLine()) != null) {
        final String[] words = line.split(" ", -1);
        switch (words[0]) {
          case "begin" -> {
            last = new Pending(channel, Long.parseLong(words[1]));
            patient = patient == null ? last : patient;
            System.out.println(last);
          }
          case "await" -> System.out.println(last.await());
          case "patient" -> System.out.println(patient);
          case "wall" -> System.out.println(System.currentTimeMillis());
          case "calls" -> System.out.println(calls(channel) + " answered");
          default -> throw new IllegalArgumentException("line=" + line);
        }
      }
      System.exit(0);
    }

    private static int calls(RingChannel channel) {
      int answered = 0;
      for (int i = 0; i < 500; i++) {
        final GetRequest request = HashIndex.request(i);
        final GetResponse response =
            IndexGrpc.newBlockingStub(channel)
                .withDeadlineAfter(LIMIT_S, TimeUnit.SECONDS)
                .get(request);
        if (HashIndex.isAnswer(request, response)) {
          answered++;
        }
      }
      return answered;
    }

    /** A call that only its deadline ends. */
    private static final class Pending {
      private final ListenableFuture<GetResponse> call;

      Pending(RingChannel channel, long deadlineMs) {
        this.call =
            IndexGrpc.newFutureStub(channel)
                .withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS)
                .get(HANGING);
      }

      String await() throws Exception {
        try {
          return "answered: " + call.get(LIMIT_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
          return Status.fromThrowable(e).getCode().toString();
        }
      }

      @Override
      public String toString() {
        return call.isDone() ? "over" : "pending";
      }
    }
  }
}
