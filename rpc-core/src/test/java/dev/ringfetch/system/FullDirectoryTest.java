package dev.ringfetch.system;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The directory of the rings fills up while a ring is open: that one goes on, its pages are its
 * own; a new one is not to be had, for this reason, until there is room.
 */
class FullDirectoryTest {
  private static final String REASON = "No space left on device";

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @Tag("slow")
  @Test
  void openRingsGoOnAndNewOnesWait() throws Exception {
    NoMemoryTest.assumeMounts(directory);
    try (SystemChild child =
        SystemChild.start(
            SystemChild.mounted("size=8m", directory),
            List.of(),
            Child.class,
            List.of(directory.toString()))) {
      assertEquals("on a ring", child.readLine());
      assertEquals("full", child.ask("fill"));
      final String refused = child.ask("newcomer");
      assertTrue(refused.startsWith("OK grpc ") && refused.contains(REASON), refused);
      assertEquals("1000 calls on the ring, 0 failed", child.ask("calls"));
      assertEquals("room", child.ask("empty"));
      assertEquals("on a ring", child.ask("await"));
      assertEquals("1000 calls on the ring, 0 failed", child.ask("calls"));
      assertEquals("sessions=2", child.ask("sessions"));
    }
  }

  /** A server and its clients, which have the file system to themselves. */
  static final class Child {
    private Child() {}

    public static void main(String[] args) throws Exception {
      final Path directory = Path.of(args[0]);
      final Path filler = directory.resolve("filler");
      final RingServer server =
          RingServerBuilder.forPort(0)
              .shmDirectory(directory)
              .addService(new HashIndex())
              .build()
              .start();
      final RingChannel first =
          SystemChild.channelBuilder(directory, server.getPort()).requireFabric().build();
      final RingChannel second = SystemChild.channelBuilder(directory, server.getPort()).build();
      SystemChild.awaitRing(first);
      final Load load = new Load(first).start(1);
      System.out.println("on a ring");
      final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
      String line;
      while ((line = input.readLine()) != null) {
        System.out.println(
            switch (line) {
              case "fill" -> fill(filler);
              case "empty" -> Files.deleteIfExists(filler) ? "room" : "it was not full";
              case "newcomer" -> awaitReason(second);
              case "await" -> awaitRing(second);
              case "calls" -> calls(first, load);
              case "sessions" -> "sessions=" + server.sessionCount();
              default -> throw new IllegalArgumentException("line=" + line);
            });
      }
      System.exit(0);
    }

    private static String fill(Path filler) throws IOException {
      final ByteBuffer zeros = ByteBuffer.allocate(1 << 16);
      try (FileChannel file =
          FileChannel.open(filler, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        while (true) {
          file.write(zeros.clear());
        }
      } catch (IOException e) {
        return e.getMessage().contains(REASON) ? "full" : e.toString();
      }
    }

    private static String awaitReason(RingChannel channel) throws Exception {
      final GetRequest request = HashIndex.request(5);
      Await.until(
          "a reason",
          30,
          () ->
              HashIndex.isAnswer(request, IndexGrpc.newBlockingStub(channel).get(request))
                  && channel.transport().reason().contains(REASON));
      return "OK " + channel.transport().name() + " " + channel.transport().reason();
    }

    private static String awaitRing(RingChannel channel) throws Exception {
      SystemChild.awaitRing(channel);
      return "on a ring";
    }

    private static String calls(RingChannel channel, Load load) throws Exception {
      final long answered = load.answered();
      Await.until("calls", 30, () -> load.answered() >= answered + 1_000);
      return "1000 calls on the ring, "
          + (load.unavailable() + load.failures().size() + channel.grpcCalls())
          + " failed";
    }
  }
}
