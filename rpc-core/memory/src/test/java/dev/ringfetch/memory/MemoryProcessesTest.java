package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Owners and clients in processes of their own, which are killed and stopped. */
@Timeout(240)
class MemoryProcessesTest {
  private static final long LOCK_LIMIT_MS = 1000;
  private static final Set<Status.Code> ENDS = Set.of(Status.Code.UNAVAILABLE, Status.Code.UNKNOWN);
  private static final Duration WAIT = Duration.ofSeconds(60);

  @TempDir private Path directory;
  private final List<Process> processes = new ArrayList<>();
  private final List<ManagedChannel> channels = new ArrayList<>();
  private int port; // 0: the system chooses

  @AfterEach
  void end() throws Exception {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
    for (ManagedChannel channel : channels) {
      channel.shutdownNow();
      channel.awaitTermination(30, TimeUnit.SECONDS);
    }
  }

  private Process start(String role) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                MemoryChild.class.getName(),
                role,
                directory.toString(),
                String.valueOf(port))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    processes.add(process);
    return process;
  }

  private static long readNumber(Process process) throws IOException {
    BufferedReader reader = process.inputReader();
    String line = reader.readLine();
    if (line == null) {
      throw new AssertionError("the process has ended");
    }
    return Long.parseLong(line);
  }

  private Process startOwner() throws IOException {
    Process owner = start("owner");
    port = (int) readNumber(owner);
    return owner;
  }

  private static void signal(String name, Process process) throws Exception {
    Process kill =
        new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).inheritIO().start();
    assertEquals(0, kill.waitFor());
  }

  private Memory connect() {
    ManagedChannel channel =
        RingChannelBuilder.forTarget("localhost:" + port)
            .usePlaintext()
            .shmDirectory(directory)
            .build();
    channels.add(channel);
    Memory memory = Memory.connect(channel, new MemoryContext().shmDirectory(directory));
    assertTrue(memory.awaitAttached(WAIT), memory.obstacle()::toString);
    return memory;
  }

  @Test
  void deadHoldersLoseTheLockWithinASecond() throws Exception {
    startOwner();
    Memory memory = connect();
    RemoteLock lock = memory.lock("printer");
    long fence = 0;
    for (int round = 0; round < 3; round++) {
      Process holder = start("holder");
      long held = readNumber(holder);
      assertTrue(held > fence, held + " after " + fence);
      if (round == 1) { // stopped: alive as far as anybody knows
        signal("STOP", holder);
        assertEquals(Optional.empty(), lock.acquire(Duration.ofMillis(300)));
        signal("CONT", holder);
        assertEquals(Optional.empty(), lock.acquire(Duration.ofMillis(100)), "it still has it");
        signal("STOP", holder);
      }
      signal("KILL", holder);
      holder.waitFor();
      long startNs = System.nanoTime(); // it is dead
      LockHold hold = lock.acquire(WAIT).orElseThrow();
      long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
      assertTrue(ms < LOCK_LIMIT_MS, "held by the dead for " + ms + " ms");
      assertTrue(hold.fence() > held);
      fence = hold.fence();
      hold.close();
    }
    memory.close();
  }

  @Test
  void deadWaitersAreSkipped() throws Exception {
    startOwner();
    Memory memory = connect();
    RemoteLock lock = memory.lock("printer");
    LockHold hold = lock.acquire(WAIT).orElseThrow();
    Process killed = start("holder");
    Process stopped = start("holder");
    Thread.sleep(1500); // they wait by now, most likely
    signal("KILL", killed);
    signal("STOP", stopped);
    hold.close();
    signal("CONT", stopped);
    assertTrue(readNumber(stopped) > hold.fence());
    signal("KILL", stopped);
    lock.acquire(WAIT).orElseThrow().close();
    memory.close();
  }

  /** What a reader has seen of one owner after the other. */
  private static final class Seen {
    long version;
    long word; // of this owner
    long next = -1; // message of this owner
    long messages;

    void read(RemoteValue<Words> value) {
      Versioned<Words> now = value.get();
      now.value().check(MemoryChild.WORDS);
      assertTrue(now.version() >= version, now.version() + " after " + version);
      assertTrue(now.value().word() >= word, now.value().word() + " after " + word);
      version = now.version();
      word = now.value().word();
    }

    final BroadcastHandler<Words> handler =
        new BroadcastHandler<>() {
          @Override
          public void onMessage(Words message) {
            message.check(MemoryChild.WORDS);
            assertTrue(next < 0 || next == message.word(), next + " != " + message.word());
            next = message.word() + 1;
            messages++;
          }

          @Override
          public void onLapped(long lost) {
            assertTrue(lost > 0);
            next += next < 0 ? 0 : lost;
          }
        };
  }

  @Test
  void valuesStayWholeThroughStopsAndKillsOfTheirOwner() throws Exception {
    Process owner = startOwner();
    Memory memory = connect();
    RemoteValue<Words> value = memory.value("ibm", Words.CODEC);
    Seen seen = new Seen();
    for (int life = 0; life < 2; life++) {
      seen.word = 0;
      seen.next = -1;
      BroadcastReader<Words> trades = memory.broadcast("trades", Words.CODEC).fromLatest();
      long messages = seen.messages;
      for (int stop = 0; stop < 5; stop++) { // in the middle of whatever the owner does
        readFor(50, seen, value, trades);
        signal("STOP", owner);
        Thread.sleep(5);
        seen.read(value);
        long word = seen.word;
        long reads = value.directReads();
        readFor(20, seen, value, trades);
        assertEquals(word, seen.word, "the last one of an owner that is stopped");
        assertTrue(value.directReads() > reads, "it is not asked");
        signal("CONT", owner);
      }
      MemoryHarness.await(
          "a message", () -> trades.poll(seen.handler) > 0 || seen.messages > messages);
      signal("KILL", owner);
      MemoryHarness.await(
          "the owner's end",
          () -> {
            try {
              seen.read(value);
              return false;
            } catch (StatusRuntimeException e) {
              // gRPC's netty says UNKNOWN of a call that it was about to write.
              assertTrue(ENDS.contains(e.getStatus().getCode()), e::toString);
              return true;
            }
          });
      owner = startOwner(); // at the same port
      seen.word = 0;
      MemoryHarness.await(
          "the next owner",
          () -> {
            try {
              seen.read(value);
              return true;
            } catch (StatusRuntimeException e) {
              return false;
            }
          });
      assertTrue(memory.awaitAttached(WAIT), memory.obstacle()::toString);
      long direct = value.directReads();
      MemoryHarness.await(
          "reads from memory",
          () -> {
            seen.read(value);
            return value.directReads() > direct;
          });
    }
    assertTrue(value.directReads() > 1000, "reads=" + value.directReads());
    memory.close();
    signal("KILL", owner);
    owner.waitFor();
    Memory last = Memory.connect(channels.get(0), new MemoryContext().shmDirectory(directory));
    last.close(); // opening its fabric has swept what the dead owner left
    end();
    assertEquals(List.of(), left());
  }

  private static void readFor(
      int ms, Seen seen, RemoteValue<Words> value, BroadcastReader<Words> trades) {
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    while (System.nanoTime() < endNs) {
      seen.read(value);
      trades.poll(seen.handler);
    }
  }

  /** Files that processes have left in shared memory. */
  private List<Path> left() throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths.filter(Files::isRegularFile).toList();
    }
  }
}
