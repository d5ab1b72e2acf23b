package dev.ringfetch.fabric.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.FabricHarness.Offered;
import dev.ringfetch.fabric.LoadableFabricContract;
import dev.ringfetch.fabric.QueuePair;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract of every fabric, on shared memory. */
class ShmFabricTest extends LoadableFabricContract {
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);

  @TempDir Path directory;

  @Override
  protected Fabric open() throws IOException {
    return new ShmProvider().open(new FabricContext().directory(directory));
  }

  /** Both have opened the file before either was let in, often enough in so many rounds. */
  @Test
  void ofTwoThatPresentOneTokenAtOnceOneIsLetIn() throws IOException {
    try (FabricHarness harness = new FabricHarness(open(), open())) {
      for (int round = 0; round < 100; round++) {
        byte[] token = FabricHarness.token("token " + round);
        Offered offered = harness.offer(token);
        byte[] descriptor = offered.offer.descriptor();
        Future<QueuePair> first = harness.connectUndriven(descriptor, token, TIMEOUT_NS);
        Future<QueuePair> second = harness.connectUndriven(descriptor, token, TIMEOUT_NS);
        harness.drive(() -> first.isDone() && second.isDone());
        assertEquals(1, succeeded(first) + succeeded(second), "clients that were let in");
        assertEquals(1, offered.arrived.size(), "queue pairs of the server");
        offered.arrived.get(0).close();
      }
    }
  }

  private static int succeeded(Future<QueuePair> connecting) {
    try {
      FabricHarness.result(connecting).close();
      return 1;
    } catch (IOException e) {
      return 0;
    }
  }
}
