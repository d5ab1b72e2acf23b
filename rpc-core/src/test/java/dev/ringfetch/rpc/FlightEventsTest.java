package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.system.ShmTempDirFactory;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The events in a recording, as docs/flight-events.md names them. In a process of its own. */
@Timeout(120)
final class FlightEventsTest {
  private static final String PREFIX = "dev.ringfetch.";
  private static final CallOptions DEADLINE =
      CallOptions.DEFAULT.withDeadlineAfter(2L * TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  private static final int CALLS = 5;
  private static final int PAUSE_MS = 300; // longer than the threshold of sleeps

  @TempDir(factory = ShmTempDirFactory.class)
  private Path directory;

  @TempDir private Path files;

  @Test
  void aRecordingHasSessionsFallbacksTakeOversAndLongSleeps() throws Exception {
    final Path file = files.resolve("events.jfr");
    JavaProcess.run(
        FlightEventsTest.class, List.of("-Ddirectory=" + directory, "-Dfile=" + file), "", null);
    final List<RecordedEvent> events =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().startsWith(PREFIX))
            .toList();
    for (final String side : List.of("CLIENT", "SERVER")) {
      final RecordedEvent opened = only(named(events, "SessionOpened"), side);
      assertEquals("shm", opened.getString("fabric"));
      final RecordedEvent ended = only(named(events, "SessionEnded"), side);
      assertEquals(CALLS + 2, ended.getLong("calls"), ended::toString);
      assertEquals(opened.getString("peer"), ended.getString("peer"));
      assertTrue(!ended.getString("reason").isEmpty(), ended::toString);
    }
    final List<RecordedEvent> fallbacks = named(events, "Fallback");
    assertTrue(
        fallbacks.stream()
            .anyMatch(event -> event.getString("reason").equals("the server has no Ringfetch")),
        fallbacks::toString);
    final List<RecordedEvent> takeOvers = named(events, "TakeOver");
    assertTrue(
        takeOvers.stream()
            .anyMatch(event -> event.getString("poller").startsWith("ringfetch-client-")),
        takeOvers::toString);
    final List<RecordedEvent> sleeps = named(events, "PollerSleep");
    assertTrue(
        sleeps.stream()
            .anyMatch(
                event ->
                    event.getThread().getJavaName().startsWith("ringfetch-")
                        && event.getDuration().toMillis() >= PAUSE_MS / 2),
        sleeps::toString);
    assertTrue(
        sleeps.stream().allMatch(event -> event.getDuration().toMillis() >= 100), // the threshold
        sleeps::toString);
  }

  private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
    return events.stream()
        .filter(event -> event.getEventType().getName().equals(PREFIX + name))
        .toList();
  }

  private static RecordedEvent only(List<RecordedEvent> events, String side) {
    final List<RecordedEvent> ofSide =
        events.stream().filter(event -> event.getString("side").equals(side)).toList();
    assertEquals(1, ofSide.size(), ofSide::toString);
    return ofSide.get(0);
  }

  /** Makes each event happen. */
  public static void main(String[] args) throws Exception {
    try (Recording recording = new Recording()) {
      recording.start();
      final RingServer server =
          RingServerBuilder.forPort(0)
              .shmDirectory(Path.of(System.getProperty("directory")))
              .addService(RingFixture.service(Bytes.digesting()))
              .build()
              .start();
      final RingChannel channel = channel("localhost:" + server.getPort());
      channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      for (int i = 0; i < CALLS; i++) {
        call(channel);
      }
      waitInCallback(channel);
      final boolean unused = new CountDownLatch(1).await(PAUSE_MS, TimeUnit.MILLISECONDS);
      call(channel); // ends a sleep
      end(channel, server);
      withoutRings();
      final Path file = Path.of(System.getProperty("file"));
      RingFixture.await("the last event is in the recording", () -> hasFallback(recording, file));
    }
  }

  /** Writes the recording; the channel knows a reason before it reports it. */
  private static boolean hasFallback(Recording recording, Path file) {
    try {
      recording.dump(file);
      return !named(RecordingFile.readAllEvents(file), "Fallback").isEmpty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Keeps the poller, which runs callbacks of a direct executor, from its sessions. */
  private static void waitInCallback(RingChannel channel) throws InterruptedException {
    final CountDownLatch ended = new CountDownLatch(1);
    ClientCalls.asyncUnaryCall(
        channel.newCall(Bytes.METHOD, DEADLINE),
        new byte[1],
        new StreamObserver<byte[]>() {
          @Override
          public void onNext(byte[] answer) {
            try {
              final boolean unused = new CountDownLatch(1).await(PAUSE_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }

          @Override
          public void onError(Throwable t) {
            ended.countDown();
          }

          @Override
          public void onCompleted() {
            ended.countDown();
          }
        });
    assertTrue(ended.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  private static void withoutRings() throws Exception {
    final ServerBuilder<?> builder =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create());
    final Server plain = builder.addService(RingFixture.service(Bytes.digesting())).build().start();
    final RingChannel channel = channel("localhost:" + plain.getPort());
    call(channel);
    RingFixture.await(
        "the channel knows why", () -> channel.transport().reason().contains("no Ringfetch"));
    end(channel, plain);
  }

  private static RingChannel channel(String target) {
    return RingChannelBuilder.forTarget(target)
        .usePlaintext()
        .shmDirectory(Path.of(System.getProperty("directory")))
        .spinTime(Duration.ZERO)
        .directExecutor()
        .build();
  }

  private static void call(RingChannel channel) {
    final byte[] unused =
        ClientCalls.blockingUnaryCall(channel, Bytes.METHOD, DEADLINE, new byte[1]);
  }

  private static void end(RingChannel channel, Server server) throws InterruptedException {
    assertTrue(channel.shutdown().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertTrue(server.shutdown().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }
}
