package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.MessageFormat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where there is no ring, calls go over gRPC, the channel says why, and the log does, once. */
final class RingFallbackTest {
  private static final Logger LOGGER = Logger.getLogger(RingChannel.class.getName());

  private final LogRecorder log = new LogRecorder();

  @TempDir Path directory;

  private Server server;
  private RingChannel channel;

  @BeforeEach
  void record() {
    LOGGER.setUseParentHandlers(false);
    LOGGER.addHandler(log);
  }

  @AfterEach
  void close() throws Exception {
    try {
      if (channel != null) {
        channel.shutdownNow();
        assertTrue(channel.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      }
      if (server != null) {
        server.shutdownNow();
        assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      }
    } finally {
      LOGGER.removeHandler(log);
      LOGGER.setUseParentHandlers(true);
    }
  }

  private static final class LogRecorder extends Handler {
    private final List<String> lines = new ArrayList<>();

    @Override
    public synchronized void publish(LogRecord line) {
      if (Level.INFO.equals(line.getLevel())) {
        lines.add(MessageFormat.format(line.getMessage(), line.getParameters()));
      }
    }

    synchronized List<String> lines() {
      return List.copyOf(lines);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  private static ServerServiceDefinition service() {
    return ServerServiceDefinition.builder(Bytes.SERVICE)
        .addMethod(Bytes.METHOD, Bytes.digesting())
        .build();
  }

  private RingServerBuilder ringServer(Path shm) {
    return RingServerBuilder.forPort(0)
        .shmDirectory(shm)
        .spinTime(Duration.ZERO)
        .addService(service());
  }

  private RingChannelBuilder ringChannel(Path shm) {
    return RingChannelBuilder.forAddress("localhost", server.getPort())
        .usePlaintext()
        .shmDirectory(shm)
        .spinTime(Duration.ZERO);
  }

  private int call() {
    return call(CallOptions.DEFAULT);
  }

  private int call(CallOptions options) {
    return ClientCalls.blockingUnaryCall(channel, Bytes.METHOD, options, new byte[9]).length;
  }

  /** Waits for the end of an attempt to have a ring. */
  private String obstacle() {
    try {
      channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      return "there is a ring";
    } catch (Exception e) {
      return channel.transport().reason();
    }
  }

  /** Calls are served, by gRPC; the reason is told, and logged once. */
  private void assertFallsBack(String reason) {
    assertEquals(9, call());
    final String told = obstacle();
    assertTrue(told.contains(reason), told);
    for (int i = 0; i < 10; i++) {
      assertEquals(9, call());
    }
    assertEquals(Transport.GRPC, channel.transport().name());
    assertFalse(channel.transport().isRing());
    assertTrue(channel.transport().reason().contains(reason), channel.transport().reason());
    assertEquals(0, channel.ringCalls());
    assertEquals(11, channel.grpcCalls());
    assertEquals(1, log.lines().size(), () -> log.lines().toString());
    assertTrue(log.lines().get(0).contains(reason), () -> log.lines().toString());
  }

  private void assertRequiredFabricFails(RingChannelBuilder builder, String reason)
      throws InterruptedException {
    final RingChannel strict = builder.requireFabric().build();
    try {
      final StatusRuntimeException thrown =
          assertThrows(
              StatusRuntimeException.class,
              () ->
                  ClientCalls.blockingUnaryCall(
                      strict, Bytes.METHOD, CallOptions.DEFAULT, new byte[9]));
      TransportContract.assertStatus(Status.Code.UNAVAILABLE, reason, thrown.getStatus());
      assertEquals(0, strict.grpcCalls());
    } finally {
      strict.shutdownNow();
      assertTrue(strict.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
  }

  @Test
  void whereTheServerHasNoRingfetch() throws Exception {
    server = ServerBuilder.forPort(0).addService(service()).build().start();
    channel = ringChannel(directory).build();
    assertFallsBack("the server has no Ringfetch");
    assertRequiredFabricFails(ringChannel(directory), "the server has no Ringfetch");
  }

  @Test
  void whereTheClientsDirectoryCannotBeUsed() throws Exception {
    server = ringServer(directory).build().start();
    final Path none = directory.resolve("none");
    Files.createFile(none);
    channel = ringChannel(none).build();
    assertFallsBack("shm");
    assertRequiredFabricFails(ringChannel(none), "shm");
  }

  @Test
  void whereTheServersDirectoryCannotBeUsed() throws Exception {
    final Path none = directory.resolve("none");
    Files.createFile(none);
    server = ringServer(none).build().start();
    assertTrue(((RingServer) server).fabrics().startsWith("none"));
    channel = ringChannel(directory).build();
    assertFallsBack("no fabric in common; the server has none");
    assertRequiredFabricFails(ringChannel(directory), "no fabric in common");
  }

  /** As on another host: what the server offers is not there. */
  @Test
  void whereTheServersMemoryIsNotTheClients() throws Exception {
    final Path other = Files.createDirectory(directory.resolve("other"));
    server = ringServer(directory).build().start();
    channel = ringChannel(other).build();
    assertFallsBack("");
    assertRequiredFabricFails(ringChannel(other), "no ring");
    assertEquals(0, ((RingServer) server).sessionCount());
  }

  @Test
  void whereTheServerHasTooManySessions() throws Exception {
    server = ringServer(directory).maxSessions(0).build().start();
    channel = ringChannel(directory).build();
    assertFallsBack("RESOURCE_EXHAUSTED");
    assertRequiredFabricFails(ringChannel(directory), "no further session");
  }

  private RingChannelBuilder encryptedChannel() {
    return RingChannelBuilder.newChannelBuilder("localhost:" + server.getPort(), Tls.client())
        .shmDirectory(directory)
        .spinTime(Duration.ZERO);
  }

  private RingServerBuilder encryptedServer() {
    return RingServerBuilder.newServerBuilderForPort(0, Tls.server())
        .shmDirectory(directory)
        .spinTime(Duration.ZERO)
        .addService(service());
  }

  @Test
  void whereTheClientKeepsEncryptedCallsOffPlaintext() throws Exception {
    server = encryptedServer().build().start();
    channel = encryptedChannel().plaintextFabrics().build();
    final String reason = "shm: plaintext, and the client keeps encrypted calls off it";
    assertFallsBack(reason);
    assertRequiredFabricFails(encryptedChannel().plaintextFabrics("verbs"), reason);
    assertEquals(0, ((RingServer) server).sessionCount());
  }

  @Test
  void whereTheServerKeepsEncryptedCallsOffPlaintext() throws Exception {
    server = encryptedServer().plaintextFabrics().build().start();
    channel = encryptedChannel().build();
    final String reason =
        "no fabric in common; shm: plaintext, and the server keeps encrypted calls off it";
    assertFallsBack(reason);
    assertRequiredFabricFails(encryptedChannel(), reason);
    assertEquals(0, ((RingServer) server).sessionCount());
  }

  @Test
  void callsThatAreNotEncryptedMayGoAnywhere() throws Exception {
    server = ringServer(directory).plaintextFabrics().build().start();
    channel = ringChannel(directory).plaintextFabrics().build();
    assertTrue(channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).isOpen());
    assertEquals(9, call());
    assertEquals(1, channel.ringCalls());
  }

  @Test
  void optionsOfACallDoNotKeepItOffTheRing() throws Exception {
    server = ringServer(directory).build().start();
    channel = ringChannel(directory).build();
    assertTrue(channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).isOpen());
    assertEquals(9, call());
    assertEquals(0, channel.grpcCalls());
    assertEquals(9, call(CallOptions.DEFAULT.withCompression("gzip")));
    assertEquals(9, call(CallOptions.DEFAULT.withAuthority("localhost")));
    assertEquals(9, call(CallOptions.DEFAULT.withWaitForReady()));
    assertEquals(9, call());
    assertEquals(5, channel.ringCalls());
    assertEquals(0, channel.grpcCalls());
    assertTrue(channel.transport().isRing());
    assertEquals(List.of(), log.lines());
  }

  @Test
  void reflectionAnswersOverBoth() throws Exception {
    server =
        ringServer(directory)
            .addService(ProtoReflectionServiceV1.newInstance())
            .addService(new IndexGrpc.IndexImplBase() {})
            .build()
            .start();
    channel = ringChannel(directory).build();
    assertEquals(MethodType.BIDI_STREAMING, reflection().getType());
    final List<String> names = namesByReflection(channel);
    assertFalse(names.contains("ringfetch.v1.SessionService"), names::toString);
    assertTrue(names.contains(IndexGrpc.SERVICE_NAME), names::toString);
    assertEquals(1, channel.grpcCalls());
    channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    assertEquals(names, namesByReflection(channel));
    assertEquals(1, channel.grpcCalls());
    assertEquals(1, channel.ringCalls());
    assertNull(
        server.getServices().stream()
            .map(found -> found.getServiceDescriptor().getName())
            .filter("ringfetch.v1.SessionService"::equals)
            .findAny()
            .orElse(null));
  }

  private static io.grpc.MethodDescriptor<ServerReflectionRequest, ServerReflectionResponse>
      reflection() {
    return ServerReflectionGrpc.getServerReflectionInfoMethod();
  }

  private static List<String> namesByReflection(ManagedChannel channel) throws Exception {
    final CompletableFuture<ServerReflectionResponse> listed = new CompletableFuture<>();
    final StreamObserver<ServerReflectionRequest> requests =
        ServerReflectionGrpc.newStub(channel)
            .serverReflectionInfo(
                new StreamObserver<>() {
                  @Override
                  public void onNext(ServerReflectionResponse response) {
                    listed.complete(response);
                  }

                  @Override
                  public void onError(Throwable t) {
                    listed.completeExceptionally(t);
                  }

                  @Override
                  public void onCompleted() {}
                });
    requests.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
    final ServerReflectionResponse response =
        listed.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    requests.onCompleted();
    return response.getListServicesResponse().getServiceList().stream()
        .map(ServiceResponse::getName)
        .toList();
  }

  @Test
  void callsGoOverTheRingAsSoonAsThereIsOne() throws Exception {
    server = ringServer(directory).build().start();
    channel = ringChannel(directory).build();
    assertEquals(9, call()); // the first asks for a ring, and does not wait for it
    assertEquals(1, channel.grpcCalls());
    assertTrue(channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).isOpen());
    assertEquals(9, call());
    assertEquals(1, channel.grpcCalls());
    assertEquals(1, channel.ringCalls());
  }

  @Test
  void aPlainChannelIsServedByARingServer() throws Exception {
    server = ringServer(directory).build().start();
    final ManagedChannel plain =
        ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
    try {
      assertEquals(
          9,
          ClientCalls.blockingUnaryCall(plain, Bytes.METHOD, CallOptions.DEFAULT, new byte[9])
              .length);
    } finally {
      plain.shutdownNow();
      assertTrue(plain.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
  }

  @Test
  void moreCallsThanStreamsGoOverGrpc() throws Exception {
    final Served.Handler handler = Served.hanging();
    server =
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .spinTime(Duration.ZERO)
            .maxStreams(2)
            .addService(
                ServerServiceDefinition.builder(Bytes.SERVICE)
                    .addMethod(Bytes.METHOD, handler)
                    .build())
            .build()
            .start();
    channel = ringChannel(directory).build();
    assertTrue(channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).isOpen());
    final long repeatedBefore = repeatedCalls();
    final List<Exchange> calls = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      calls.add(new Exchange(channel).send(new byte[i]));
    }
    for (int i = 0; i < 5; i++) {
      final Served served = handler.take();
      served.awaitHalfClose();
      served.answer(served.request());
    }
    for (int i = 0; i < 5; i++) {
      assertEquals(i, calls.get(i).response().length);
    }
    assertEquals(3, channel.grpcCalls());
    assertEquals(2, channel.ringCalls());
    assertEquals(0, repeatedCalls() - repeatedBefore);
  }

  private static long repeatedCalls() {
    return Counters.ofThisProcess().stream()
        .mapToLong(counters -> counters.total(Counter.CHANNEL_CALLS_REPEATED))
        .sum();
  }
}
