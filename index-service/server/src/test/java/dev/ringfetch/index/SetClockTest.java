package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Server processes whose wall clock the test sets, while they run and between a kill and the next
 * start: they run under libfaketime, which takes the clock from a file, and leaves CLOCK_MONOTONIC
 * alone, as the kernel does.
 */
@Tag("slow")
@Timeout(300)
class SetClockTest {
  private static final String LIBRARY = "faketime/libfaketimeMT.so.1";
  private static final long HOUR_S = 3_600;
  private static final long MINUTE_MS = 60_000;

  @TempDir Path directory;
  @TempDir Path shm;

  private ServerProcess server;
  private ManagedChannel channel;
  private IndexGrpc.IndexBlockingStub index;

  private static Path library() throws IOException {
    try (DirectoryStream<Path> machines =
        Files.newDirectoryStream(Path.of("/usr/lib"), "*-linux-gnu*")) {
      for (final Path machine : machines) {
        if (Files.exists(machine.resolve(LIBRARY))) {
          return machine.resolve(LIBRARY);
        }
      }
    }
    System.out.println("clock jumps: not tested, there is no " + LIBRARY);
    return Assumptions.abort("no " + LIBRARY + " (Debian: libfaketime)");
  }

  private Path clock() {
    return directory.resolve("clock");
  }

  /** Sets the clock to so many seconds after the time; a process sees that within a second. */
  private void set(long seconds) throws IOException {
    Files.writeString(clock(), (seconds < 0 ? "" : "+") + seconds);
  }

  private void start() throws Exception {
    final List<String> underClock =
        List.of(
            "env",
            "LD_PRELOAD=" + library(),
            "FAKETIME_TIMESTAMP_FILE=" + clock(),
            "FAKETIME_CACHE_DURATION=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            "DONT_FAKE_MONOTONIC=1", // the name that older ones know
            "FAKETIME_FORCE_MONOTONIC_FIX=0"); // else every timed wait of the JVM spins
    server =
        ServerProcess.startUnder(
            underClock,
            "--port=0",
            "--shm-directory=" + shm,
            "--data=" + directory.resolve("data"),
            "--durability=disk");
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.awaitPort()).usePlaintext().build();
    index = IndexGrpc.newBlockingStub(channel);
  }

  private void kill() throws Exception {
    channel.shutdownNow();
    server.close();
    server.awaitExit();
  }

  @AfterEach
  void end() throws Exception {
    if (channel != null) {
      kill();
    }
  }

  /** Puts an entry; returns its deadline, less the true time and its time to live. */
  private long put(String key, long ttlMs) {
    final var unused =
        index.put(
            PutRequest.newBuilder().setKey(ByteString.copyFromUtf8(key)).setTtlMs(ttlMs).build());
    return get(key).getEntry().getDeadlineMs() - System.currentTimeMillis() - ttlMs;
  }

  private GetResponse get(String key) {
    return index.get(GetRequest.newBuilder().setKey(ByteString.copyFromUtf8(key)).build());
  }

  private boolean isThere(String key) {
    return get(key).hasEntry();
  }

  /** Waits until new deadlines count from a clock that is so many seconds after the time. */
  private void awaitClock(long seconds) throws Exception {
    while (Math.abs(put("probe", MINUTE_MS) - seconds * 1_000) > MINUTE_MS) {
      Thread.sleep(10); // the test's timeout ends it
    }
  }

  @Test
  void clockThatIsBehindAtTheStartAndIsSetRight() throws Exception {
    set(0);
    start();
    assertTrue(Math.abs(put("hour", HOUR_S * 1_000)) < MINUTE_MS);
    put("probe", MINUTE_MS); // each partition has its own clock
    kill();
    set(-2 * HOUR_S);
    start();
    assertTrue(isThere("hour"));
    awaitClock(0); // it is that of the log, not that of the host
    set(0);
    for (int i = 0; i < 30; i++) { // also when the server sees that the clock was set
      assertTrue(Math.abs(put("probe", MINUTE_MS)) < MINUTE_MS);
      Thread.sleep(100);
    }
    set(HOUR_S - 600);
    awaitClock(HOUR_S - 600);
    assertTrue(isThere("hour"));
    set(HOUR_S);
    while (isThere("hour")) {
      Thread.sleep(10);
    }
    assertEquals(0, get("hour").getEntry().getVersion());
    awaitClock(HOUR_S);
    set(0); // the hour that has passed stays so, and new entries have their time
    kill();
    start();
    assertTrue(!isThere("hour"));
    final long beginNs = System.nanoTime();
    put("second", 1_000);
    while (isThere("second")) {
      Thread.sleep(10);
    }
    assertTrue(Duration.ofNanos(System.nanoTime() - beginNs).toMillis() >= 1_000);
  }
}
