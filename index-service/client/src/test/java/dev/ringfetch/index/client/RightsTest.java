package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.rights.AuditLog;
import dev.ringfetch.index.rights.Right;
import dev.ringfetch.index.rights.Rights;
import dev.ringfetch.index.tls.TlsFiles;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.Authority;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Callers of a server with users: who is let in, to what, and what a change of rights ends. */
@Timeout(300)
final class RightsTest {
  private static final Authority AUTHORITY = new Authority("authority");
  static final String PASSWORD = "correct horse";

  /** Of the password, with the fewest iterations that are allowed. */
  static final String HASH =
      "pbkdf2-sha512:10000:AAECAwQFBgcICQoLDA0ODw==:"
          + "ECEiF3rHxiQNn3eIhD3/rQu7JgNUuHNkEwXr67HsHXA=";

  /** Of another one. */
  private static final String OTHER_HASH =
      "pbkdf2-sha512:10000:AAECAwQFBgcICQoLDA0ODw==:"
          + "+h1exKld25/cTi2AWPNcp4/+kWT2jQZH8Q+JscRkMD8=";

  /** Of the password, with so many iterations that a guess takes half a second at least. */
  private static final String SLOW_HASH =
      "pbkdf2-sha512:1000000:AAECAwQFBgcICQoLDA0ODw==:"
          + "qNmge+4Ok65VwWN/oPYyBB6zfUR7ofmHw/GZeIWQ4us=";

  @TempDir Path directory;

  private final List<ManagedChannel> channels = new ArrayList<>();
  private Rights rights;

  @AfterEach
  void close() {
    channels.forEach(ManagedChannel::shutdownNow);
  }

  private Path file() {
    return directory.resolve("users");
  }

  private void write(String... lines) throws IOException {
    Files.write(file(), List.of(lines));
    Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-------"));
  }

  private TestServer serve(String... lines) throws IOException {
    write(lines);
    rights = new Rights(file());
    return TestServer.start(directory, InsecureServerCredentials.create(), rights);
  }

  private void change(String... lines) throws IOException {
    write(lines);
    rights.refresh();
  }

  private static String basic(String user, String password) {
    return "Basic "
        + Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  /** A channel over gRPC, or with rings, whose calls have a header. */
  private Channel channel(TestServer server, boolean ring, String authorization) {
    final ManagedChannel channel =
        ring
            ? server.channel()
            : ManagedChannelBuilder.forTarget(server.target()).usePlaintext().build();
    channels.add(channel);
    final Metadata headers = new Metadata();
    if (authorization != null) {
      headers.put(
          Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), authorization);
    }
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static IndexClient client(TestServer server, String user) {
    return server.builder().credentials(user, PASSWORD).build();
  }

  private static HashIndex<String, Long> index(IndexClient client, String name) {
    return client.hash(name, Codec.string(), Codec.int64());
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

  private static void assertDenied(String text, Executable operation) {
    final IndexException denied = assertThrows(IndexException.class, operation);
    assertEquals(Status.Code.PERMISSION_DENIED, denied.code(), denied::toString);
    assertTrue(denied.getMessage().contains(text), denied::toString);
  }

  private static void assertUnknown(Executable operation) {
    final IndexException unknown = assertThrows(IndexException.class, operation);
    assertEquals(Status.Code.UNAUTHENTICATED, unknown.code(), unknown::toString);
  }

  @Test
  void aClientWithUserAndPasswordDoesWhatItMay() throws Exception {
    try (TestServer server = serve("ann " + HASH + " read:* write:carts.*");
        IndexClient client = client(server, "ann");
        IndexClient stranger = server.connect()) {
      final HashIndex<String, Long> carts = index(client, "carts.1");
      carts.put("a", 1L);
      assertEquals(Optional.of(1L), carts.get("a"));
      assertEquals(Optional.of(1L), carts.access(Access.DIRECT).get("a"));
      assertDenied("user=ann right=write index=orders", () -> index(client, "orders").put("a", 1L));
      assertEquals(Optional.empty(), index(client, "orders").get("a"));
      assertDenied("user=ann right=admin index=carts.1", () -> client.drop("carts.1"));
      assertUnknown(() -> index(stranger, "carts.1").get("a"));
      assertUnknown(() -> index(stranger, "carts.1").put("a", 2L));
      assertUnknown(() -> index(stranger, "carts.1").access(Access.DIRECT).get("a"));
    }
  }

  @Test
  void rightsOfTopicsAreThoseOfTheirIndexes() throws Exception {
    try (TestServer server =
            serve(
                "ann " + HASH + " admin:topic.orders.* write:topic.commits",
                "bob " + HASH + " read:topic.orders.*",
                "eve " + HASH + " admin:topic.new.* read:topic.commits",
                "joe " + HASH + " admin:topic.new.*");
        IndexClient ann = client(server, "ann");
        IndexClient bob = client(server, "bob");
        IndexClient eve = client(server, "eve");
        IndexClient joe = client(server, "joe")) {
      assertTrue(ann.topics().create("orders", TopicOptions.partitions(2)));
      final List<ByteString> record = List.of(ByteString.copyFromUtf8("record"));
      final long offset = ann.topics().log("orders", 1).append(record).join().offsets().get(0);
      assertEquals(offset, bob.topics().log("orders", 1).read(0, 1, 1).get(0).offset());
      assertEquals(List.of("orders"), bob.topics().list());
      final CompletionException denied =
          assertThrows(
              CompletionException.class, () -> bob.topics().log("orders", 1).append(record).join());
      assertDenied(
          "user=bob right=write index=topic.orders.1",
          () -> {
            throw denied.getCause();
          });
      assertDenied(
          "user=ann right=write index=topic.other.0",
          () -> ann.topics().create("other", TopicOptions.partitions(1)));
      assertDenied("right=admin index=topic.orders.0", () -> bob.topics().delete("orders"));
      final Map<TopicPartition, TopicCommits.Commit> commit =
          Map.of(new TopicPartition("orders", 1), new TopicCommits.Commit(offset));
      ann.topics().commits().commit("g", commit);
      assertDenied(
          "user=bob right=write index=topic.commits",
          () -> bob.topics().commits().commit("g", commit));
      assertTrue(ann.topics().delete("orders"));
      assertEquals(0, ann.topics().commits().index().count());
      for (final IndexClient user : List.of(eve, joe)) { // who may not remove commits, or read them
        assertTrue(user.topics().create("new", TopicOptions.partitions(1)));
        ann.topics()
            .commits()
            .commit("g", Map.of(new TopicPartition("new", 0), new TopicCommits.Commit(offset)));
        assertTrue(user.topics().delete("new"));
        assertEquals(1, ann.topics().commits().index().count());
      }
    }
  }

  /** The memory that a grant shows has all indexes. */
  @Test
  void directReadsAreForUsersWhoMayReadAll() throws Exception {
    final Map<Access, Long> routes = new ConcurrentHashMap<>();
    try (TestServer server = serve("ann " + HASH + " admin:carts", "bob " + HASH + " read:*");
        IndexClient ann =
            server
                .builder()
                .credentials("ann", PASSWORD)
                .metrics((operation, index, route, code, ns) -> routes.merge(route, 1L, Long::sum))
                .build();
        IndexClient bob =
            server
                .builder()
                .credentials("bob", PASSWORD)
                .metrics((operation, index, route, code, ns) -> routes.merge(route, 1L, Long::sum))
                .build()) {
      index(ann, "carts").put("a", 1L);
      assertEquals(Optional.of(1L), index(ann, "carts").access(Access.DIRECT).get("a"));
      assertNull(routes.get(Access.DIRECT), routes::toString);
      final Channel channel = channel(server, false, basic("ann", PASSWORD));
      final Status refused = of(channel, DirectAccessGrpc.getGrantMethod(), "carts");
      assertEquals(Status.Code.FAILED_PRECONDITION, refused.getCode());
      assertTrue(refused.getDescription().contains("memory of all indexes"), refused::toString);
      assertEquals(Optional.of(1L), index(bob, "carts").access(Access.DIRECT).get("a"));
      assertEquals(1, routes.get(Access.DIRECT), routes::toString);
    }
  }

  /** A grant ends with the right, without the end of its connection. */
  @Test
  void aRevokedUserReadsNoMemory() throws Exception {
    final Map<Access, Long> routes = new ConcurrentHashMap<>();
    try (TestServer server =
            serve("ann " + HASH + " admin:carts read:*", "bob " + HASH + " read:*");
        IndexClient ann =
            server
                .builder()
                .credentials("ann", PASSWORD)
                .metrics((operation, index, route, code, ns) -> routes.merge(route, 1L, Long::sum))
                .build()) {
      final HashIndex<String, Long> carts = index(ann, "carts").access(Access.DIRECT);
      carts.put("a", 1L);
      final DirectReader ofBob =
          DirectReader.open(
              channel(server, false, basic("bob", PASSWORD)),
              "carts",
              new DirectContext().shmDirectory(directory));
      assertEquals(Optional.of(1L), carts.get("a"));
      assertEquals(1, routes.get(Access.DIRECT), routes::toString);
      final ByteString key = ByteString.copyFromUtf8("a");
      final DirectValue value = new DirectValue();
      assertTrue(ofBob.get(key, value));
      assertEquals(1, ofBob.directReads());
      change("ann " + HASH + " read:carts", "bob " + HASH + " read:*");
      assertEquals(Optional.of(1L), carts.get("a")); // by a call, which the user may make
      assertEquals(1, routes.get(Access.DIRECT), routes::toString);
      change("ann " + HASH + " admin:orders", "bob " + HASH + " read:*");
      assertDenied("user=ann right=read index=carts", () -> carts.get("a"));
      assertTrue(ofBob.get(key, value));
      assertEquals(2, ofBob.directReads(), "another user's grant has ended");
      change("ann " + HASH + " read:*", "bob " + OTHER_HASH + " read:*");
      assertEquals(Optional.of(1L), carts.get("a"));
      assertEquals(Status.Code.UNAUTHENTICATED, code(() -> ofBob.get(key, value)));
      assertEquals(2, ofBob.directReads());
      ofBob.close();
    }
  }

  private static Status.Code code(Executable call) {
    return assertThrows(StatusRuntimeException.class, call).getStatus().getCode();
  }

  /** The library's watch tells its listener, and does not begin again. */
  @Test
  void aListenerHearsThatTheRightWasRevoked() throws Exception {
    try (TestServer server = serve("ann " + HASH + " admin:carts");
        IndexClient client = client(server, "ann")) {
      index(client, "carts").put("a", 1L);
      final CompletableFuture<IndexException> end = new CompletableFuture<>();
      try (WatchSubscription<String, Long> watch =
          index(client, "carts")
              .watch(
                  WatchOptions.fromNow(),
                  new WatchListener<>() {
                    @Override
                    public void onChange(IndexChange<String, Long> change) {}

                    @Override
                    public void onEnd(IndexException failure) {
                      end.complete(failure);
                    }
                  })) {
        change("ann " + HASH);
        assertEquals(
            Status.Code.PERMISSION_DENIED, end.get(60, TimeUnit.SECONDS).code(), watch::toString);
      }
    }
  }

  /** One thread checks passwords; users whose password is known do not wait for it. */
  @Test
  void guessesDoNotKeepUsersWaiting() throws Exception {
    try (TestServer server = serve("ann " + HASH + " admin:*", "eve " + SLOW_HASH);
        IndexClient known = client(server, "ann")) {
      index(known, "carts").put("a", 1L);
      final int guesses = 300;
      final List<CompletableFuture<Status.Code>> ends = new ArrayList<>();
      final Channel shared = channel(server, false, null);
      for (int i = 0; i < guesses; i++) {
        final Metadata headers = new Metadata();
        headers.put(
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
            basic("eve", "guess" + i));
        final CompletableFuture<Status.Code> end = new CompletableFuture<>();
        ends.add(end);
        IndexGrpc.newStub(
                ClientInterceptors.intercept(
                    shared, MetadataUtils.newAttachHeadersInterceptor(headers)))
            .get(
                GetRequest.newBuilder().setKey(ByteString.copyFromUtf8("a")).build(),
                new StreamObserver<>() {
                  @Override
                  public void onNext(GetResponse response) {
                    end.complete(Status.Code.OK);
                  }

                  @Override
                  public void onError(Throwable failure) {
                    end.complete(Status.fromThrowable(failure).getCode());
                  }

                  @Override
                  public void onCompleted() {}
                });
      }
      final long startNs = System.nanoTime();
      while (ends.stream().filter(RightsTest::isRefused).count() < guesses / 2) {
        assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(60), "all are checked");
        Thread.sleep(10);
      }
      for (int i = 0; i < 100; i++) {
        index(known, "carts").put("a", (long) i);
      }
      assertFalse(ends.stream().allMatch(CompletableFuture::isDone), "the guesses took no time");
      assertTrue(
          ends.stream()
              .filter(CompletableFuture::isDone)
              .allMatch(end -> isRefused(end) || end.join() == Status.Code.UNAUTHENTICATED));
    }
  }

  private static boolean isRefused(CompletableFuture<Status.Code> end) {
    return end.getNow(Status.Code.OK) == Status.Code.RESOURCE_EXHAUSTED;
  }

  @Test
  void aFileThatIsWrongChangesNothing() throws Exception {
    try (TestServer server = serve("ann " + HASH + " admin:*");
        IndexClient client = client(server, "ann")) {
      index(client, "carts").put("a", 1L);
      change("ann " + HASH + " admin:*", "ann " + HASH);
      index(client, "carts").put("a", 2L);
      change("");
      index(client, "carts").put("a", 3L);
      Files.write(file(), List.of("bob " + HASH));
      Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-r--r--"));
      rights.refresh();
      index(client, "carts").put("a", 4L);
      Files.delete(file());
      rights.refresh();
      index(client, "carts").put("a", 5L);
      change("bob " + HASH);
      assertUnknown(() -> index(client, "carts").put("a", 6L));
    }
    write("ann");
    assertThrows(IOException.class, () -> new Rights(file()));
  }

  private TlsFiles files(Authority.Identity identity) throws IOException {
    final Path certificate = directory.resolve("cert.pem");
    final Path key = directory.resolve("key.pem");
    if (identity != null) {
      identity.write(certificate, key);
    }
    return new TlsFiles(
        identity == null ? null : certificate,
        identity == null ? null : key,
        AUTHORITY.write(directory.resolve("ca.pem")));
  }

  @Test
  void aCertificateIsThatOfTheUserOfItsName() throws Exception {
    write(
        "ann certificate admin:carts",
        "host1.example certificate write:carts",
        "bob " + HASH + " read:carts");
    rights = new Rights(file());
    try (TestServer server =
        TestServer.start(directory, files(AUTHORITY.issue("server")).serverOfUsers(), rights)) {
      final ChannelCredentials ann = files(AUTHORITY.issue("ann")).channel();
      final ChannelCredentials host = files(AUTHORITY.issue("x", "host1.example")).channel();
      final ChannelCredentials bob = files(AUTHORITY.issue("bob")).channel();
      final ChannelCredentials none = files(null).channel();
      final ChannelCredentials wrong = files(new Authority("other").issue("ann")).channel();
      files(null);
      try (IndexClient client = server.builder().credentials(ann).build()) {
        index(client, "carts").put("a", 1L);
        assertDenied("user=ann right=read index=orders", () -> index(client, "orders").get("a"));
        change("host1.example certificate write:carts", "bob " + HASH + " read:carts");
        assertUnknown(() -> index(client, "carts").get("a"));
      }
      try (IndexClient client = server.builder().credentials(host).build()) {
        assertEquals(Optional.of(1L), index(client, "carts").get("a"));
        index(client, "carts").put("a", 1L);
        assertDenied("user=host1.example right=admin index=carts", () -> client.drop("carts"));
      }
      for (final ChannelCredentials ofBob : List.of(bob, none)) {
        try (IndexClient client = server.builder().credentials(ofBob).build()) {
          assertUnknown(() -> index(client, "carts").get("a")); // he has a password
        }
        try (IndexClient client =
            server.builder().credentials(ofBob).credentials("bob", PASSWORD).build()) {
          assertEquals(Optional.of(1L), index(client, "carts").get("a"));
        }
      }
      // A wrong password is not made up for by a certificate.
      try (IndexClient client =
          server.builder().credentials(host).credentials("bob", "wrong").build()) {
        assertUnknown(() -> index(client, "carts").get("a"));
      }
      try (IndexClient client =
          server.builder().credentials(wrong).deadline(Duration.ofSeconds(5)).build()) {
        final IndexException refused =
            assertThrows(IndexException.class, () -> index(client, "carts").get("a"));
        assertInstanceOf(UnavailableException.class, refused);
      }
    }
  }

  @Test
  void theAuditSaysWhoDidWhat() throws Exception {
    write("ann " + HASH + " admin:carts");
    for (final Right from : List.of(Right.WRITE, Right.READ)) {
      final Path log = directory.resolve("audit-" + from);
      rights = new Rights(file(), new AuditLog(log.toString(), from));
      try (TestServer server =
          TestServer.start(directory, InsecureServerCredentials.create(), rights)) {
        try (IndexClient client = client(server, "ann");
            IndexClient guess = server.builder().credentials("ann", "secret-guess").build()) {
          index(client, "carts").put("secret-key", 4711L);
          index(client, "carts").get("secret-key");
          assertDenied("", () -> index(client, "orders").get("secret-key"));
          assertUnknown(() -> index(guess, "carts").get("secret-key"));
          client.drop("carts");
        }
      }
      rights.close(); // writes what waits
      final String text = Files.readString(log);
      for (final String secret : List.of("secret", "4711", PASSWORD, HASH, "Basic")) {
        assertFalse(text.contains(secret), text);
      }
      assertTrue(text.contains(" method=Index/Put index=carts status=OK\n"), text);
      assertTrue(text.contains(" method=IndexAdmin/DropIndex index=carts status=OK\n"), text);
      assertTrue(text.contains(" method=Index/Get index=orders status=PERMISSION_DENIED\n"), text);
      assertTrue(
          text.lines()
              .anyMatch(
                  line ->
                      line.matches(
                          ".* user=ann peer=[0-9a-f.:]+ method=Index/Get index=-"
                              + " status=UNAUTHENTICATED")),
          text);
      assertEquals(
          from == Right.READ, text.contains(" method=Index/Get index=carts status=OK\n"), text);
    }
  }
}
