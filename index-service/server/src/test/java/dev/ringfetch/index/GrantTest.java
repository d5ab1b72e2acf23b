package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.GateView;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.service.DirectAccessService.Mode;
import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.ReleaseRequest;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Context;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Grants that a test asks for by hand: when there is one, and when it ends. */
@Timeout(60)
class GrantTest {
  /** More than one connection may have at a time. */
  private static final int MANY = 70;

  private static final ByteString TOKEN = ByteString.copyFromUtf8("sixteen bytes...");

  @TempDir Path directory;

  @Test
  void grantWhoseCallWasCancelledIsReleased() throws Exception {
    final Holding holding = new Holding();
    try (DirectServer server =
        DirectServer.start(directory, Mode.ALWAYS, builder -> builder.intercept(holding))) {
      final ManagedChannel channel = server.newChannel();
      try (Fabric fabric = fabric()) {
        for (int i = 0; i < MANY; i++) {
          final ListenableFuture<GrantResponse> answer =
              DirectAccessGrpc.newFutureStub(channel).grant(request(fabric).build());
          holding.arrived.acquire();
          assertTrue(answer.cancel(true));
        }
        holding.ended.acquire(MANY);
        final long startNs = System.nanoTime();
        while (admissions() > 0) {
          assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(10), "kept grants");
          Thread.sleep(1);
        }
        holding.off = true;
        assertFalse(stub(channel).grant(request(fabric).build()).getToken().isEmpty());
        assertEquals(1, admissions());
      } finally {
        channel.shutdownNow();
      }
    }
  }

  /** The caller can release what it does not know of, because it knows the token. */
  @Test
  void callerMayChooseTheToken() throws Exception {
    try (DirectServer server = DirectServer.start(directory)) {
      final ManagedChannel channel = server.newChannel();
      try (Fabric fabric = fabric()) {
        final GrantRequest request = request(fabric).setToken(TOKEN).build();
        assertEquals(TOKEN, stub(channel).grant(request).getToken());
        assertEquals(1, admissions());
        assertInvalid(channel, request);
        assertInvalid(channel, request.toBuilder().setToken(TOKEN.substring(1)).build());
        final ReleaseRequest release = ReleaseRequest.newBuilder().setToken(TOKEN).build();
        assertTrue(stub(channel).release(release).getExisted());
        assertEquals(0, admissions());
        assertFalse(stub(channel).release(release).getExisted());
      } finally {
        channel.shutdownNow();
      }
    }
  }

  /** A client of before says nothing, and reads hash indexes. */
  @Test
  void indexIsGrantedToClientsThatReadItsKind() throws Exception {
    try (DirectServer server = DirectServer.start(directory)) {
      final ManagedChannel channel = server.newChannel();
      try (Fabric fabric = fabric()) {
        server.createHash("hash");
        final PutResponse unused =
            server.index().put(PutRequest.newBuilder().setIndex("ordered").setKey(TOKEN).build());
        final GrantRequest request = request(fabric).setIndex("ordered").build();
        assertRefused(channel, request, IndexKind.ORDERED);
        assertRefused(
            channel, request.toBuilder().addKinds(IndexKind.HASH).build(), IndexKind.ORDERED);
        final GrantRequest both =
            request.toBuilder().addKinds(IndexKind.HASH).addKinds(IndexKind.ORDERED).build();
        final GrantResponse ordered = stub(channel).grant(both);
        assertEquals(IndexKind.ORDERED, ordered.getKind());
        assertEquals(1, ordered.getPartitions());
        final GrantRequest.Builder hash = request.toBuilder().setIndex("hash");
        assertEquals(IndexKind.HASH, stub(channel).grant(hash.build()).getKind());
        assertRefused(channel, hash.addKinds(IndexKind.ORDERED).build(), IndexKind.HASH);
        final CreateIndexResponse created =
            server
                .admin()
                .createIndex(
                    CreateIndexRequest.newBuilder()
                        .setIndex("spatial")
                        .setKind(IndexKind.SPATIAL)
                        .build());
        assertTrue(created.getCreated());
        final GrantRequest spatial = both.toBuilder().setIndex("spatial").build();
        assertRefused(channel, spatial, IndexKind.SPATIAL);
        assertEquals(
            IndexKind.SPATIAL,
            stub(channel).grant(spatial.toBuilder().addKinds(IndexKind.SPATIAL).build()).getKind());
      } finally {
        channel.shutdownNow();
      }
    }
  }

  private static void assertRefused(ManagedChannel channel, GrantRequest request, IndexKind kind) {
    final StatusRuntimeException refused =
        assertThrows(StatusRuntimeException.class, () -> stub(channel).grant(request));
    assertEquals(Status.Code.FAILED_PRECONDITION, refused.getStatus().getCode());
    assertEquals(
        "the client reads no index of kind " + kind + " itself: read it by calls",
        refused.getStatus().getDescription());
  }

  private static void assertInvalid(ManagedChannel channel, GrantRequest request) {
    final StatusRuntimeException refused =
        assertThrows(StatusRuntimeException.class, () -> stub(channel).grant(request));
    assertEquals(Status.Code.INVALID_ARGUMENT, refused.getStatus().getCode());
  }

  /** The gate is a file of the process's own here; it is closed before the file goes. */
  @Test
  void endOfTheServerClosesTheGate() throws Exception {
    try (Fabric fabric = fabric()) {
      final GateView gate;
      final long epoch;
      try (DirectServer server = DirectServer.start(directory)) {
        final ManagedChannel channel = server.newChannel();
        final GrantResponse grant = stub(channel).grant(request(fabric).build());
        final RemoteDomain domain =
            fabric.connectDomain(
                grant.getDomain().toByteArray(),
                grant.getToken().toByteArray(),
                TimeUnit.SECONDS.toNanos(10));
        gate = new GateView(domain.view(RemoteDomain.GATE));
        epoch = grant.getEpoch();
        assertTrue(gate.isOpen(epoch));
        channel.shutdownNow();
      }
      assertFalse(gate.isOpen(epoch));
    }
  }

  static Stream<BiConsumer<RingServerBuilder, Indexes>> servicesBehindInterceptors() {
    return Stream.of(
        (builder, indexes) ->
            builder.addService(
                ServerInterceptors.intercept(new IndexService(indexes), new Passing())),
        (builder, indexes) -> builder.addService(new Delegating(new IndexService(indexes))),
        (builder, indexes) -> builder.addService(new IndexService(new Indexes())));
  }

  /** What stands around the service sees each call, and would not see direct reads. */
  @ParameterizedTest
  @MethodSource("servicesBehindInterceptors")
  void serviceThatWasWrappedIsNotReadDirectly(BiConsumer<RingServerBuilder, Indexes> services)
      throws Exception {
    try (DirectServer server =
            DirectServer.startWith(directory, Mode.UNLESS_INTERCEPTED, services);
        DirectReader reader = server.openReader("")) {
      assertFalse(reader.isDirect());
      assertEquals(
          "FAILED_PRECONDITION: the server has interceptors, which direct reads would not pass",
          reader.obstacle());
    }
    try (DirectServer server = DirectServer.startWith(directory, Mode.ALWAYS, services);
        DirectReader reader = server.openReader("")) {
      assertTrue(reader.isDirect(), reader::obstacle);
    }
  }

  @Test
  void serviceAsItWasBoundIsReadDirectly() throws Exception {
    try (DirectServer server =
            DirectServer.startWith(
                directory,
                Mode.UNLESS_INTERCEPTED,
                (builder, indexes) ->
                    builder.addService(
                        ServerInterceptors.intercept(new IndexService(indexes), List.of())));
        DirectReader reader = server.openReader("")) {
      assertTrue(reader.isDirect(), reader::obstacle);
    }
  }

  private Fabric fabric() throws IOException {
    return FabricProviders.open("shm", new FabricContext().directory(directory));
  }

  private static GrantRequest.Builder request(Fabric fabric) {
    return GrantRequest.newBuilder()
        .addFabrics(
            FabricHint.newBuilder().setFabric("shm").setHint(ByteString.copyFrom(fabric.hint())));
  }

  private static DirectAccessGrpc.DirectAccessBlockingStub stub(ManagedChannel channel) {
    return DirectAccessGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);
  }

  /** Admissions that no peer has taken: their files. */
  private long admissions() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> file.getFileName().toString().contains("-admission-")).count();
    }
  }

  /** Lets a call's handler run when its client has cancelled the call. */
  private static final class Holding implements ServerInterceptor {
    private final Semaphore arrived = new Semaphore(0);
    private final Semaphore ended = new Semaphore(0);
    private volatile boolean off;

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
        @Override
        public void onHalfClose() {
          arrived.release();
          while (!off && !Context.current().isCancelled()) {
            Thread.onSpinWait();
          }
          super.onHalfClose();
          ended.release();
        }
      };
    }
  }

  private static final class Passing implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      return next.startCall(call, headers);
    }
  }

  /** A service of the application around that of the indexes. */
  private static final class Delegating extends IndexGrpc.IndexImplBase {
    private final IndexService index;

    Delegating(IndexService index) {
      this.index = index;
    }

    @Override
    public void get(GetRequest request, StreamObserver<GetResponse> responses) {
      index.get(request, responses);
    }
  }
}
