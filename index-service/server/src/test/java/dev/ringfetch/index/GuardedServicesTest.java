package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.ringfetch.index.rights.Rights;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Services for users over both transports: who is let in, to what, and what a change of rights
 * ends.
 */
@Timeout(300)
final class GuardedServicesTest {
  private static final String PASSWORD = "correct horse";

  /** Of the password, with the fewest iterations that are allowed. */
  private static final String HASH =
      "pbkdf2-sha512:10000:AAECAwQFBgcICQoLDA0ODw==:"
          + "ECEiF3rHxiQNn3eIhD3/rQu7JgNUuHNkEwXr67HsHXA=";

  /** Of another one. */
  private static final String OTHER_HASH =
      "pbkdf2-sha512:10000:AAECAwQFBgcICQoLDA0ODw==:"
          + "+h1exKld25/cTi2AWPNcp4/+kWT2jQZH8Q+JscRkMD8=";

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private static final List<ServiceDescriptor> SERVICES =
      List.of(
          IndexGrpc.getServiceDescriptor(),
          IndexAdminGrpc.getServiceDescriptor(),
          DirectAccessGrpc.getServiceDescriptor());

  @TempDir Path directory;

  private final List<ManagedChannel> channels = new ArrayList<>();
  private Rights rights;
  private Indexes indexes;
  private RingServer server;

  private void serve(String... lines) throws IOException {
    write(lines);
    rights = new Rights(directory.resolve("users"));
    indexes =
        new Indexes(
            IndexMemory.shared(
                new IndexMemoryContext()
                    .fabrics("shm")
                    .shmDirectory(directory)
                    .budget(LocalServer.MEMORY)));
    indexes.rights(rights);
    final RingServerBuilder builder =
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .directExecutor() // reads on rings take the short way from the first one on
            .addTransportFilter(rights.connections());
    IndexServer.addServices(builder, indexes, new HealthStatusManager());
    DirectAccessService.addTo(builder, indexes, DirectAccessService.Mode.ALWAYS);
    server = builder.build().start();
  }

  @AfterEach
  void close() throws InterruptedException {
    channels.forEach(ManagedChannel::shutdownNow);
    server.shutdownNow();
    assertTrue(server.awaitTermination(60, TimeUnit.SECONDS));
    indexes.close();
  }

  private void write(String... lines) throws IOException {
    final Path file = directory.resolve("users");
    Files.write(file, List.of(lines));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  private void change(String... lines) throws IOException {
    write(lines);
    rights.refresh();
  }

  /** A channel over gRPC, or with rings, whose calls have a header. */
  private Channel channel(boolean ring, String authorization) {
    final String target = "localhost:" + server.getPort();
    final ManagedChannel channel =
        ring
            ? RingChannelBuilder.forTarget(target).usePlaintext().shmDirectory(directory).build()
            : ManagedChannelBuilder.forTarget(target).usePlaintext().build();
    channels.add(channel);
    final Metadata headers = new Metadata();
    if (authorization != null) {
      headers.put(AUTHORIZATION, authorization);
    }
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static String basic(String user, String password) {
    return "Basic "
        + Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  /** A request of a method, empty but for the index's name. */
  @SuppressWarnings("unchecked")
  private static <Q> Q request(MethodDescriptor<Q, ?> method, String index) {
    final Message empty =
        (Message) ((PrototypeMarshaller<Q>) method.getRequestMarshaller()).getMessagePrototype();
    final var field = empty.getDescriptorForType().findFieldByName("index");
    return (Q) (field == null ? empty : empty.toBuilder().setField(field, index).build());
  }

  /** The status of a call, or OK if it gets an answer. */
  private static <Q, R> Status status(Channel channel, MethodDescriptor<Q, R> method, Q request)
      throws Exception {
    final CompletableFuture<Status> end = new CompletableFuture<>();
    final ClientCall<Q, R> call =
        channel.newCall(method, CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS));
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(R message) {
            end.complete(Status.OK);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        new Metadata());
    call.request(1);
    call.sendMessage(request);
    call.halfClose();
    final Status status = end.get(90, TimeUnit.SECONDS);
    call.cancel("the test has its answer", null);
    return status;
  }

  private static <Q> Status of(Channel channel, MethodDescriptor<Q, ?> method, String index)
      throws Exception {
    return status(channel, method, request(method, index));
  }

  private static void create(Channel channel, String index) {
    assertTrue(
        IndexAdminGrpc.newBlockingStub(channel)
            .createIndex(
                CreateIndexRequest.newBuilder().setIndex(index).setKind(IndexKind.HASH).build())
            .getCreated());
  }

  private static Status.Code code(Executable call) {
    return assertThrows(StatusRuntimeException.class, call).getStatus().getCode();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void callersThatProveNothingGetNothing(boolean ring) throws Exception {
    serve("ann " + HASH + " admin:*", "bob certificate admin:*");
    final Channel known = channel(ring, basic("ann", PASSWORD));
    assertTrue(of(known, IndexGrpc.getGetMethod(), "").getCode() != Status.Code.UNAUTHENTICATED);
    final List<String> headers = new ArrayList<>();
    headers.add(null);
    headers.add(basic("ann", "wrong"));
    headers.add(basic("nobody", PASSWORD));
    headers.add(basic("bob", PASSWORD));
    headers.add(basic("ann", ""));
    headers.add(basic("", PASSWORD));
    headers.add("Bearer " + PASSWORD);
    headers.add("Basic !");
    headers.add("Basic");
    headers.add(basic("a".repeat(5_000), "b"));
    for (final String header : headers) {
      final Channel channel = channel(ring, header);
      // Some checks of passwords take long; the others are tried on all methods.
      if (header == null || header.startsWith("Bearer")) {
        forEachMethod(
            method ->
                assertEquals(
                    Status.Code.UNAUTHENTICATED,
                    of(channel, method, "orders").getCode(),
                    method::getFullMethodName));
      } else {
        assertEquals(
            Status.Code.UNAUTHENTICATED,
            of(channel, IndexGrpc.getGetMethod(), "orders").getCode(),
            header);
      }
    }
    assertEquals(
        ServingStatus.SERVING,
        HealthGrpc.newBlockingStub(channel(ring, null))
            .check(HealthCheckRequest.getDefaultInstance())
            .getStatus());
  }

  /** Names and passwords that are wrong look the same. */
  @Test
  void aRefusalTellsNothingOfUsers() throws Exception {
    serve("ann " + HASH + " admin:*", "bob certificate");
    final MethodDescriptor<GetRequest, GetResponse> get = IndexGrpc.getGetMethod();
    final List<String> texts = new ArrayList<>();
    for (final String user : List.of("ann", "bob", "nobody")) {
      texts.add(of(channel(false, basic(user, "x")), get, "").getDescription());
    }
    assertEquals(List.of("wrong user or password"), texts.stream().distinct().toList());
  }

  /** Each method over each transport; whether the index exists makes no difference. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void eachMethodNeedsItsRight(boolean ring) throws Exception {
    serve("ann " + HASH, "eve " + HASH + " admin:other.*", "root " + HASH + " admin:*");
    final Channel root = channel(ring, basic("root", PASSWORD));
    create(root, "orders");
    for (final String user : List.of("ann", "eve")) {
      final Channel channel = channel(ring, basic(user, PASSWORD));
      forEachMethod(
          method -> {
            for (final String index : List.of("orders", "missing")) {
              final Status refused = of(channel, method, index);
              final String name = method.getBareMethodName();
              if (List.of("ListIndexes", "DescribeServer", "DescribeCluster", "Release")
                  .contains(name)) {
                assertTrue(refused.isOk(), refused::toString);
              } else {
                assertEquals(Status.Code.PERMISSION_DENIED, refused.getCode(), name);
                assertTrue(
                    refused
                        .getDescription()
                        .matches("user=" + user + " right=[a-z]+ index=(" + index + "|\\*)"),
                    refused::toString);
              }
            }
          });
    }
    forEachMethod(
        method -> {
          final Status.Code code = of(root, method, "orders").getCode();
          assertNotEquals(Status.Code.PERMISSION_DENIED, code, method::getFullMethodName);
          assertNotEquals(Status.Code.UNAUTHENTICATED, code, method::getFullMethodName);
        });
  }

  @Test
  void aListHasTheIndexesThatTheUserMayRead() throws Exception {
    serve("ann " + HASH + " read:b*", "root " + HASH + " admin:*");
    final Channel root = channel(true, basic("root", PASSWORD));
    for (final String name : List.of("a1", "b1", "b2")) {
      create(root, name);
    }
    assertEquals(
        List.of("b1", "b2"),
        IndexAdminGrpc.newBlockingStub(channel(true, basic("ann", PASSWORD)))
            .listIndexes(ListIndexesRequest.getDefaultInstance())
            .getIndexesList()
            .stream()
            .map(IndexDescription::getName)
            .sorted()
            .toList());
  }

  /** Reads on a ring take a short way, which no interceptor sees, once there were many. */
  @Test
  void aRevokedUserReadsNothingOnARing() throws Exception {
    serve("ann " + HASH + " admin:carts read:orders", "bob certificate");
    final ManagedChannel channel =
        RingChannelBuilder.forTarget("localhost:" + server.getPort())
            .usePlaintext()
            .shmDirectory(directory)
            .requireFabric()
            .sessionCredentials(new Fixed(basic("ann", PASSWORD)))
            .directExecutor()
            .build();
    channels.add(channel);
    final IndexGrpc.IndexBlockingStub stub = IndexGrpc.newBlockingStub(channel);
    final GetRequest get =
        GetRequest.newBuilder().setIndex("carts").setKey(ByteString.copyFromUtf8("a")).build();
    create(channel, "carts");
    for (int i = 0; i < 20_000; i++) {
      assertFalse(stub.get(get).hasEntry());
    }
    final GetRequest hidden = get.toBuilder().setIndex("hidden").build();
    for (int i = 0; i < 1_000; i++) {
      assertEquals(Status.Code.PERMISSION_DENIED, code(() -> stub.get(hidden)));
      assertFalse(stub.get(get).hasEntry());
    }
    change("ann " + HASH + " read:orders", "bob certificate");
    for (int i = 0; i < 1_000; i++) {
      assertEquals(Status.Code.PERMISSION_DENIED, code(() -> stub.get(get)));
    }
    change("ann " + HASH + " read:carts");
    for (int i = 0; i < 10_000; i++) {
      assertFalse(stub.get(get).hasEntry());
    }
    change("ann " + OTHER_HASH + " read:carts");
    for (int i = 0; i < 3; i++) {
      assertEquals(Status.Code.UNAUTHENTICATED, code(() -> stub.get(get)));
    }
  }

  /**
   * Of several channels over one ring or connection, each call has the rights of its own header.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void usersOfOneConnectionAreToldApart(boolean ring) throws Exception {
    serve("ann " + HASH + " admin:carts", "bob " + HASH + " admin:orders");
    final Channel shared = channel(ring, null);
    final Metadata ann = new Metadata();
    final Metadata bob = new Metadata();
    final Metadata.Key<String> key =
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
    ann.put(key, basic("ann", PASSWORD));
    bob.put(key, basic("bob", PASSWORD));
    create(
        ClientInterceptors.intercept(shared, MetadataUtils.newAttachHeadersInterceptor(ann)),
        "carts");
    final PutRequest put =
        PutRequest.newBuilder().setIndex("carts").setKey(ByteString.copyFromUtf8("a")).build();
    final GetRequest get =
        GetRequest.newBuilder().setIndex("carts").setKey(ByteString.copyFromUtf8("a")).build();
    for (int i = 0; i < 2_000; i++) {
      assertFalse(with(shared, ann).get(get).hasEntry());
      assertEquals(Status.Code.PERMISSION_DENIED, code(() -> with(shared, bob).get(get)));
      assertEquals(Status.Code.UNAUTHENTICATED, code(() -> with(shared, null).get(get)));
    }
    for (int i = 0; i < 100; i++) {
      assertEquals(Status.Code.UNAUTHENTICATED, code(() -> with(shared, null).put(put)));
      assertTrue(with(shared, ann).put(put).getVersion() > 0);
      assertEquals(Status.Code.PERMISSION_DENIED, code(() -> with(shared, bob).put(put)));
    }
  }

  @Test
  void aGrantNeedsTheRightToAllIndexes() throws Exception {
    serve("ann " + HASH + " admin:carts", "bob " + HASH + " read:*");
    create(channel(true, basic("ann", PASSWORD)), "carts");
    for (final String user : List.of("ann", "bob")) {
      final Status refused =
          of(channel(false, basic(user, PASSWORD)), DirectAccessGrpc.getGrantMethod(), "carts");
      assertEquals(Status.Code.FAILED_PRECONDITION, refused.getCode());
      assertEquals(
          user.equals("ann"), // bob's request offers no fabric
          refused.getDescription().contains("memory of all indexes"),
          refused::toString);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWatchEndsWithTheRight(boolean ring) throws Exception {
    serve("ann " + HASH + " admin:carts", "bob " + HASH + " read:carts");
    final Channel ann = channel(ring, basic("ann", PASSWORD));
    create(ann, "carts");
    final Observed ofAnn = watch(ann);
    final Observed ofBob = watch(channel(ring, basic("bob", PASSWORD)));
    change("ann " + HASH + " admin:carts", "bob " + HASH + " read:orders");
    final Status end = ofBob.end.get(60, TimeUnit.SECONDS);
    assertEquals(Status.Code.PERMISSION_DENIED, end.getCode());
    assertEquals("user=bob right=read index=carts", end.getDescription());
    assertFalse(ofAnn.end.isDone());
    change("ann " + OTHER_HASH + " admin:carts");
    assertEquals(Status.Code.PERMISSION_DENIED, ofAnn.end.get(60, TimeUnit.SECONDS).getCode());
  }

  private static void forEachMethod(Checked<MethodDescriptor<?, ?>> check) throws Exception {
    for (final ServiceDescriptor service : SERVICES) {
      for (final MethodDescriptor<?, ?> method : service.getMethods()) {
        check.accept(method);
      }
    }
  }

  private interface Checked<T> {
    void accept(T tested) throws Exception;
  }

  private static IndexGrpc.IndexBlockingStub with(Channel channel, Metadata headers) {
    final IndexGrpc.IndexBlockingStub stub = IndexGrpc.newBlockingStub(channel);
    return headers == null
        ? stub
        : stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static final class Observed implements StreamObserver<WatchResponse> {
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CompletableFuture<Status> end = new CompletableFuture<>();

    @Override
    public void onNext(WatchResponse response) {
      begun.countDown();
    }

    @Override
    public void onError(Throwable failure) {
      end.complete(Status.fromThrowable(failure));
    }

    @Override
    public void onCompleted() {
      end.complete(Status.OK);
    }
  }

  private static Observed watch(Channel channel) throws InterruptedException {
    final Observed observed = new Observed();
    IndexGrpc.newStub(channel)
        .watch(WatchRequest.newBuilder().setIndex("carts").setProgressMs(100).build(), observed);
    assertTrue(observed.begun.await(60, TimeUnit.SECONDS), "the watch does not begin");
    return observed;
  }

  /** Credentials with a header. */
  private static final class Fixed extends CallCredentials {
    private final String authorization;

    Fixed(String authorization) {
      this.authorization = authorization;
    }

    @Override
    public void applyRequestMetadata(
        RequestInfo request, Executor executor, MetadataApplier applier) {
      final Metadata headers = new Metadata();
      headers.put(AUTHORIZATION, authorization);
      applier.apply(headers);
    }
  }
}
