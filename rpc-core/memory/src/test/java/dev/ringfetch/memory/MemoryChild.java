package dev.ringfetch.memory;

import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ManagedChannel;
import java.nio.file.Path;
import java.time.Duration;

/** A process of {@link MemoryProcessesTest}: the owner, or a client that holds a lock. */
final class MemoryChild {
  static final int WORDS = 100;

  private MemoryChild() {}

  /** Arguments: owner DIRECTORY PORT, or holder DIRECTORY PORT. */
  public static void main(String[] args) throws Exception {
    final Path directory = Path.of(args[1]);
    final int port = Integer.parseInt(args[2]);
    if (args[0].equals("owner")) {
      own(directory, port);
    } else {
      hold(directory, port);
    }
  }

  /** Sets values and publishes messages without a pause, until the process is killed. */
  private static void own(Path directory, int port) throws Exception {
    final RingServerBuilder builder = RingServerBuilder.forPort(port).shmDirectory(directory);
    final Regions regions = Regions.on(builder, new RegionsContext().shmDirectory(directory));
    final OwnedValue<Words> value = regions.value("ibm", Words.CODEC, 8 * WORDS);
    final Broadcast<Words> trades = regions.broadcast("trades", Words.CODEC, 1 << 16);
    regions.lock("printer");
    value.set(Words.of(1, WORDS));
    final RingServer server = builder.build().start();
    System.out.println(server.getPort());
    for (long word = 2; ; word++) {
      value.set(Words.of(word, WORDS));
      trades.publish(Words.of(word, WORDS));
      if (word % 1000 == 0) {
        Thread.sleep(1); // leaves a processor to the others
      }
    }
  }

  /** Acquires the lock, says its number, and holds it until the process is killed. */
  private static void hold(Path directory, int port) throws Exception {
    final ManagedChannel channel =
        RingChannelBuilder.forTarget("localhost:" + port)
            .usePlaintext()
            .shmDirectory(directory)
            .build();
    final Memory memory = Memory.connect(channel, new MemoryContext().shmDirectory(directory));
    final LockHold hold = memory.lock("printer").acquire(Duration.ofSeconds(60)).orElseThrow();
    System.out.println(hold.fence());
    while (hold.isHeld()) {
      Thread.sleep(10);
    }
    System.out.println("lost");
  }
}
