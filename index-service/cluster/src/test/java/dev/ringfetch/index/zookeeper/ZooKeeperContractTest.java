package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.CoordinatorContract;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The coordinator on ZooKeeper, with one server. */
final class ZooKeeperContractTest extends CoordinatorContract {
  @TempDir private static Path directory;
  private static ZooKeeperProcess zooKeeper;
  private static int clusters;

  private final String cluster = "cluster " + ++clusters;

  @BeforeAll
  static void start() throws Exception {
    zooKeeper = ZooKeeperProcess.start(directory, 0);
  }

  @AfterAll
  static void stop() {
    zooKeeper.close();
  }

  @Override
  protected Coordinator connect(LongSupplier ids) {
    return new ZooKeeperCoordinator(
        new ZooKeeperAddress(zooKeeper.address(), cluster, ZooKeeperConfig.NONE), ids);
  }
}
