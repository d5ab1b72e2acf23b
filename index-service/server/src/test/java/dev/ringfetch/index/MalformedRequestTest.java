package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.peers.GrpcPeers;
import dev.ringfetch.index.peers.IdlePeerListener;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that are no messages, of each method of each service that an index server has. */
@Timeout(120)
class MalformedRequestTest {
  private static final int TIMES = 3;
  private static final String REFLECTION =
      "grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

  /** A method that only gRPC's own registry knows. */
  private static final MethodDescriptor<byte[], byte[]> SESSION =
      method("ringfetch.v1.SessionService/Open", MethodType.BIDI_STREAMING);

  @TempDir Path shm;

  private final Random random = new Random(1);
  private final Logger root = Logger.getLogger("");
  private final Log log = new Log();
  private Indexes indexes;
  private RingServer server;

  @BeforeEach
  void start() throws IOException {
    root.addHandler(log);
    indexes = new Indexes(IndexMemory.ofProcess(IndexMemoryContext.BUDGET_MIN));
    final RingServerBuilder builder =
        IndexServer.addServices(
            RingServerBuilder.forPort(0).fabrics("shm").shmDirectory(shm),
            indexes,
            new HealthStatusManager());
    DirectAccessService.addTo(builder, indexes, DirectAccessService.Mode.ALWAYS);
    builder.addService(
        new GrpcPeers(Node.newBuilder().setId(1).build(), new IdlePeerListener() {}, shm)
            .service());
    server = builder.build().start();
  }

  @AfterEach
  void stop() {
    server.shutdownNow();
    indexes.close();
    root.removeHandler(log);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void eachMethodRefusesTheCallWithoutAnErrorInTheLog(boolean ring) throws Exception {
    final List<MethodDescriptor<byte[], byte[]>> methods = new ArrayList<>();
    for (final ServerServiceDefinition service : server.getServices()) {
      for (final MethodDescriptor<?, ?> each : service.getServiceDescriptor().getMethods()) {
        methods.add(method(each.getFullMethodName(), each.getType()));
      }
    }
    assertTrue(methods.size() > 20, methods::toString);
    if (!ring) {
      methods.add(SESSION);
    }
    final ManagedChannel channel = channel(ring);
    try {
      for (final MethodDescriptor<byte[], byte[]> method : methods) {
        for (int i = 0; i < TIMES; i++) {
          final Status status = call(channel, method, malformed());
          assertEquals(
              Status.Code.INVALID_ARGUMENT, status.getCode(), () -> method + ": " + status);
          assertTrue(
              status.getDescription().endsWith("method=" + method.getFullMethodName()),
              status::toString);
        }
      }
      assertServes(channel);
    } finally {
      channel.shutdownNow();
    }
    log.assertLinesAtMost(server.getServices().size() + 1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void laterMessageOfAStreamEndsIt(boolean ring) throws Exception {
    final ManagedChannel channel = channel(ring);
    try {
      final Status status =
          call(
              channel,
              method(REFLECTION, MethodType.BIDI_STREAMING),
              new byte[0],
              malformed(),
              new byte[0]);
      assertEquals(Status.Code.INVALID_ARGUMENT, status.getCode(), status::toString);
      assertServes(channel);
    } finally {
      channel.shutdownNow();
    }
    log.assertLinesAtMost(1);
  }

  private ManagedChannel channel(boolean ring) {
    return ring
        ? RingChannelBuilder.forTarget("localhost:" + server.getPort())
            .usePlaintext()
            .shmDirectory(shm)
            .requireFabric()
            .build()
        : ManagedChannelBuilder.forTarget("localhost:" + server.getPort()).usePlaintext().build();
  }

  /** No field has the type that its first byte says. */
  private byte[] malformed() {
    final byte[] bytes = new byte[1 + random.nextInt(100)];
    random.nextBytes(bytes);
    bytes[0] = 7;
    return bytes;
  }

  private static void assertServes(ManagedChannel channel) {
    final ByteString bytes = ByteString.copyFromUtf8("sound");
    assertTrue(
        IndexGrpc.newBlockingStub(channel)
            .withDeadlineAfter(60, TimeUnit.SECONDS)
            .put(PutRequest.newBuilder().setKey(bytes).setValue(bytes).build())
            .getCreated());
  }

  /** Sends the messages; returns how the call ends. */
  private static Status call(
      ManagedChannel channel, MethodDescriptor<byte[], byte[]> method, byte[]... messages)
      throws Exception {
    final CompletableFuture<Status> ended = new CompletableFuture<>();
    final ClientCall<byte[], byte[]> call =
        channel.newCall(method, CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS));
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            ended.complete(status);
          }
        },
        new Metadata());
    call.request(messages.length);
    for (final byte[] message : messages) {
      call.sendMessage(message);
    }
    call.halfClose();
    return ended.get(90, TimeUnit.SECONDS);
  }

  private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
    final Bytes bytes = new Bytes();
    return MethodDescriptor.newBuilder(bytes, bytes).setFullMethodName(name).setType(type).build();
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      return new ByteArrayInputStream(message);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The warnings and errors that are logged. */
  private static final class Log extends Handler {
    private final Queue<LogRecord> lines = new ConcurrentLinkedQueue<>();

    @Override
    public void publish(LogRecord line) {
      if (line.getLevel().intValue() >= Level.WARNING.intValue()) {
        lines.add(line);
      }
    }

    void assertLinesAtMost(int count) {
      final List<String> texts =
          lines.stream().map(line -> line.getLevel() + " " + line.getMessage()).toList();
      assertTrue(texts.size() <= count, texts::toString);
      assertTrue(
          lines.stream()
              .allMatch(line -> line.getLevel().equals(Level.WARNING) && line.getThrown() == null),
          texts::toString);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
