package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.CounterFiles;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Snapshot;
import dev.ringfetch.counters.Snapshot.Row;
import dev.ringfetch.system.Tree;
import io.grpc.NameResolverRegistry;
import io.grpc.ServerBuilder;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What channels and servers count, as the file of the process says it. */
final class CountersTest extends RingFixture {
  private static final int CALLS = 25;

  private RingServer serveEcho() throws IOException {
    return serve(
        ServerCalls.asyncUnaryCall(
            (byte[] request, io.grpc.stub.StreamObserver<byte[]> responses) -> {
              responses.onNext(request);
              responses.onCompleted();
            }));
  }

  private Path file() {
    final List<Path> files = files();
    assertEquals(1, files.size(), "one file for the process");
    return files.get(0);
  }

  private List<Path> files() {
    try {
      return CounterFiles.find().list(directory);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** The newest snapshot; of a file that has just been made, none. */
  private List<Row> rows() {
    for (final Path file : files()) {
      try {
        return Snapshot.read(file).rows();
      } catch (IOException e) {
        return List.of();
      }
    }
    return List.of();
  }

  private long total(Counter counter) {
    return rows().stream()
        .filter(row -> row.isTotal() && row.kind() == counter.kind())
        .mapToLong(row -> row.value(counter))
        .sum();
  }

  private List<Row> each(Kind kind) {
    return rows().stream().filter(row -> !row.isTotal() && row.kind() == kind).toList();
  }

  /** What was counted is in the file a moment later. */
  private void assertComesTo(long expected, Counter counter) {
    final long start = System.nanoTime();
    long found = total(counter);
    while (found != expected) {
      assertTrue(
          System.nanoTime() - start < TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S),
          counter + "=" + found + " expected=" + expected);
      Thread.onSpinWait();
      found = total(counter);
    }
  }

  @Test
  void callsOverTheRing() throws Exception {
    serveEcho();
    final RingChannel channel = connect(builder().requireFabric());
    for (int i = 0; i < CALLS; i++) {
      call(channel, 16);
    }
    assertComesTo(CALLS, Counter.CHANNEL_CALLS_RING);
    assertComesTo(CALLS, Counter.SERVER_CALLS_RING);
    assertComesTo(2L * CALLS, Counter.SESSION_CALLS); // both sides are in this process
    assertComesTo(2L * CALLS, Counter.SESSION_FRAMES_SENT);
    assertComesTo(2L * CALLS, Counter.SESSION_FRAMES_RECEIVED);
    assertComesTo(2L * CALLS * 64, Counter.SESSION_BYTES_SENT);
    assertComesTo(0, Counter.SESSION_BYTES_QUEUED);
    assertComesTo(0, Counter.CHANNEL_CALLS_GRPC);
    assertComesTo(0, Counter.SERVER_CALLS_GRPC);
    assertComesTo(0, Counter.CHANNEL_CALLS_FALLBACK);
    assertComesTo(1, Counter.CHANNEL_SESSIONS_OPENED);
    assertComesTo(1, Counter.SERVER_SESSIONS_OPENED);
    assertComesTo(1, Counter.SERVER_SESSIONS_OPEN);
    assertComesTo(0, Counter.CHANNEL_SESSIONS_REFUSED);
    assertComesTo(2, Counter.POLLER_SESSIONS);
    assertTrue(total(Counter.POLLER_WAKEUPS) > 0, "pollers that do not spin have slept");
    assertTrue(total(Counter.SESSION_WAKEUPS_SENT) > 0, "and were woken");
    final List<Row> sessions = each(Kind.SESSION);
    assertEquals(2, sessions.size());
    for (final Row session : sessions) {
      assertEquals(CALLS, session.value(Counter.SESSION_FRAMES_SENT), session.label());
      assertEquals(CALLS, session.value(Counter.SESSION_FRAMES_RECEIVED), session.label());
      assertEquals(64L * CALLS, session.value(Counter.SESSION_BYTES_RECEIVED), session.label());
      assertTrue(session.label().matches("(client|server) shm \\d+-[0-9a-f]{16}/session-0"));
    }
    assertEquals(List.of("test"), each(Kind.CHANNEL).stream().map(Row::label).toList());
    assertEquals(1, each(Kind.SERVER).size());
    assertTrue(each(Kind.POLLER).size() >= 2, "pollers of both sides");
    assertEquals(ProcessHandle.current().pid(), Snapshot.read(file()).pid());
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
  }

  @Test
  void callsOverGrpcForWantOfARing() throws Exception {
    serve(
        ServerBuilder.forPort(0)
            .addService(
                service(
                    ServerCalls.asyncUnaryCall(
                        (byte[] request, io.grpc.stub.StreamObserver<byte[]> responses) -> {
                          responses.onNext(request);
                          responses.onCompleted();
                        })))
            .build()
            .start());
    final RingChannel channel = build(builder());
    for (int i = 0; i < CALLS; i++) {
      call(channel, 16);
    }
    await("a refusal", () -> channel.transport().reason().contains("no Ringfetch"));
    assertComesTo(CALLS, Counter.CHANNEL_CALLS_GRPC);
    assertComesTo(CALLS, Counter.CHANNEL_CALLS_FALLBACK);
    assertComesTo(0, Counter.CHANNEL_CALLS_RING);
    assertComesTo(0, Counter.CHANNEL_SESSIONS_OPENED);
    assertComesTo(0, Counter.SESSION_FRAMES_SENT);
    assertTrue(total(Counter.CHANNEL_SESSIONS_REFUSED) >= 1, "attempts");
  }

  @Test
  void callsThatNoRingCarriesAreNoFallback() throws Exception {
    serveEcho();
    final RingChannel channel = build(builder().defaultServiceConfig(ServiceConfigTest.RETRIED));
    for (int i = 0; i < CALLS; i++) {
      call(channel, 16);
    }
    assertComesTo(CALLS, Counter.CHANNEL_CALLS_GRPC);
    assertComesTo(CALLS, Counter.SERVER_CALLS_GRPC);
    assertComesTo(CALLS, Counter.CHANNEL_CALLS_KEPT_RETRY);
    assertComesTo(0, Counter.CHANNEL_CALLS_FALLBACK);
    assertComesTo(0, Counter.SERVER_CALLS_RING);
  }

  @Test
  void whatHasEndedStaysInTheTotals() throws Exception {
    serveEcho();
    for (int i = 1; i <= 3; i++) {
      final RingChannel channel = connect(builder().requireFabric());
      call(channel, 16);
      channel.shutdown();
      assertTerminates(channel);
      assertComesTo(i, Counter.CHANNEL_CALLS_RING);
      assertComesTo(i, Counter.CHANNEL_SESSIONS_OPENED);
      assertComesTo(0, Counter.SERVER_SESSIONS_OPEN);
      assertComesTo(2L * i, Counter.SESSION_CALLS); // not frames: of DRAINs there may be one
      await( // the file may show a moment at which the sessions had ended, and the channel not yet
          "only the server and pollers are listed",
          () ->
              rows().stream()
                  .filter(row -> !row.isTotal() && row.kind() != Kind.POLLER)
                  .map(Row::kind)
                  .toList()
                  .equals(List.of(Kind.SERVER)));
    }
  }

  /** A ring to the first two; the third has no Ringfetch, and the first leaves. */
  @Test
  void backendsAreListedWithTheirTransports() throws Exception {
    final Names names = new Names();
    NameResolverRegistry.getDefaultRegistry().register(names);
    final Servers servers = new Servers(directory);
    try {
      servers.add(2);
      servers.add(ServerBuilder.forPort(0));
      names.resolve(servers.ports(), null);
      final RingChannel channel =
          build(
              RingChannelBuilder.forTarget(Names.TARGET)
                  .usePlaintext()
                  .shmDirectory(directory)
                  .spinTime(Duration.ZERO)
                  .defaultLoadBalancingPolicy("round_robin"));
      await(
          "two rings and a refusal",
          () -> {
            call(channel, 5);
            final List<BackendTransport> all = channel.transports();
            return all.stream().filter(backend -> backend.transport().isRing()).count() == 2
                && all.stream()
                    .anyMatch(each -> each.transport().reason().contains("no Ringfetch"));
          });
      await("the same in the file", () -> listed().equals(transports(channel)));
      assertEquals(3, listed().size());
      final long calls = channel.ringCalls() + channel.grpcCalls();
      names.resolve(servers.ports().subList(1, 3), null);
      await("one has gone", () -> channel.transports().size() == 2);
      await("from the file, too", () -> listed().equals(transports(channel)));
      assertEquals(
          calls,
          total(Counter.BACKEND_CALLS_RING) + total(Counter.BACKEND_CALLS_GRPC),
          "the process's total keeps the calls of the one that has gone");
      servers.stop(1); // nothing is called any more
      await(
          "its state in the file",
          () ->
              listed().stream().noneMatch(line -> line.contains(" READY, " + Transport.SHM))
                  && listed().equals(transports(channel)));
      channel.shutdown();
      assertTerminates(channel);
      await("no channel, no backends", () -> each(Kind.BACKEND).isEmpty());
    } finally {
      NameResolverRegistry.getDefaultRegistry().deregister(names);
      servers.stop();
    }
  }

  /** The backends in the file, each in one line. */
  private List<String> listed() {
    return each(Kind.BACKEND).stream()
        .map(
            row ->
                row.label()
                    + " "
                    + row.detail()
                    + " "
                    + row.value(Counter.BACKEND_CALLS_RING)
                    + " "
                    + row.value(Counter.BACKEND_CALLS_GRPC))
        .toList();
  }

  /** The same from the channel itself. */
  private List<String> transports(RingChannel channel) {
    final long serial = each(Kind.CHANNEL).stream().mapToLong(Row::serial).findFirst().orElse(0);
    return channel.transports().stream()
        .map(
            backend ->
                "%s of #%d, %s, %s: %s %d %d"
                    .formatted(
                        backend.address(),
                        serial,
                        backend.state(),
                        backend.transport().name(),
                        backend.transport().reason(),
                        backend.ringCalls(),
                        backend.grpcCalls()))
        .toList();
  }

  @Test
  void theFileGoesWithTheLastOfItsUsers() throws Exception {
    final RingServer server = serveEcho();
    final RingChannel channel = connect(builder().requireFabric());
    call(channel, 16);
    assertComesTo(1, Counter.CHANNEL_CALLS_RING);
    channel.shutdown();
    assertTerminates(channel);
    assertEquals(1, files().size(), "the server's");
    server.shutdown();
    assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertEquals(List.of(), Tree.files(directory));
  }
}
