package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ServerCredentials;
import io.grpc.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Rings over shared memory, in a directory of their own. */
class RingHarness extends TransportHarness {
  private static final Path SHM = Path.of("/dev/shm");

  private final Path directory = newDirectory();

  private static Path newDirectory() {
    try {
      return Files.isWritable(SHM)
          ? Files.createTempDirectory(SHM, "ringfetch-test-")
          : Files.createTempDirectory("ringfetch-test-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Directory of the shared-memory fabric. */
  Path directory() {
    return directory;
  }

  @Override
  RingServerBuilder newServerBuilder(int port, ServerCredentials credentials) {
    return RingServerBuilder.newServerBuilderForPort(port, credentials)
        .shmDirectory(directory)
        .spinTime(Duration.ZERO)
        .pollers(1);
  }

  @Override
  RingChannelBuilder newChannelBuilder(String target, ChannelCredentials credentials) {
    return RingChannelBuilder.newChannelBuilder(target, credentials)
        .shmDirectory(directory)
        .spinTime(Duration.ZERO)
        .requireFabric();
  }

  /** See {@link UnnamedMethodTest} for what these are about. */
  private static final Set<String> OF_UNNAMED_METHODS =
      Set.of(
          "anUnknownMethodIsUnimplemented",
          "bothSidesAreToldOfAnUnknownMethod",
          "aRegistryThatThrowsEndsItsCall",
          "aFallbackRegistryServesWhatIsNotRegistered",
          "aServersInterceptorsRunForTheFallbackRegistryToo",
          "theFallbackRegistryIsAskedForTheCallsAuthority");

  @Override
  String allowedDifference(String test) {
    return OF_UNNAMED_METHODS.contains(test)
        ? "a ring carries calls of methods that its server has named, others are gRPC's"
        : null;
  }

  @Override
  String fabric() {
    return "shm";
  }

  @Override
  void awaitConnected(ManagedChannel channel) throws Exception {
    ((RingChannel) channel).awaitRing().get(TIMEOUT_S, TimeUnit.SECONDS);
  }

  @Override
  void verify(ManagedChannel channel) {
    final RingChannel ring = (RingChannel) channel;
    assertTrue(ring.ringCalls() > 0, "no call went over the ring");
    assertEquals(0, ring.grpcCalls(), "calls that went over gRPC");
    Buffers.verifyClosed(directory);
  }

  @Override
  void dispose() throws IOException {
    final List<Path> files;
    try (Stream<Path> tree = Files.walk(directory)) {
      files = tree.sorted(Comparator.reverseOrder()).toList();
    }
    for (final Path file : files) {
      Files.deleteIfExists(file);
    }
  }

  @Override
  Status.Code brokenByServer(Status.Code code) {
    return code;
  }

  @Override
  boolean countsCallsBeforeHalfClose() {
    return false;
  }
}
