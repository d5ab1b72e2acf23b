package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.service.DirectAccessService.Mode;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Direct reads of a server in this JVM. */
@Timeout(60)
class DirectReaderTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(20);
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString ONE = ByteString.copyFromUtf8("one");
  private static final ByteString TWO = ByteString.copyFromUtf8("two");

  private final DirectValue found = new DirectValue();

  @TempDir Path directory;

  @Test
  void readsWhatIsStoredWithoutACall() throws Exception {
    try (DirectServer server = DirectServer.start(directory);
        DirectReader reader = server.openReader("")) {
      assertTrue(reader.isDirect(), reader::obstacle);
      assertFalse(reader.get(KEY, found));
      final long version = put(server, "", KEY, ONE);
      assertTrue(reader.get(KEY, found));
      assertEquals(ONE, found.value());
      assertEquals(version, found.version());
      put(server, "", KEY, TWO);
      assertTrue(reader.get(KEY, found));
      assertEquals(TWO, found.value());
      put(server, "", KEY, ByteString.EMPTY);
      assertTrue(reader.get(KEY, found));
      assertEquals(ByteString.EMPTY, found.value());
      delete(server, KEY);
      assertFalse(reader.get(KEY, found));
      assertEquals(5, reader.directReads());
      assertEquals(0, reader.callReads());
    }
  }

  @Test
  void answersAsCallsDoAfterRandomWrites() throws Exception {
    final Random random = new Random(SEED);
    try (DirectServer server = DirectServer.start(directory);
        DirectReader reader = server.openReader("")) {
      for (int i = 0; i < 2_000; i++) {
        final ByteString key = number(random.nextInt(700));
        if (random.nextInt(4) == 0) {
          delete(server, key);
        } else {
          put(server, "", key, ByteString.copyFrom(new byte[random.nextInt(300)]));
        }
        if (i % 500 == 499) {
          compare(server, reader, 700);
        }
      }
      assertEquals(0, reader.callReads(), "seed=" + SEED);
    }
  }

  private void compare(DirectServer server, DirectReader reader, int keys) {
    final List<ByteString> all = new ArrayList<>();
    final DirectValue[] founds = new DirectValue[keys];
    for (int i = 0; i < keys; i++) {
      all.add(number(i));
      founds[i] = new DirectValue();
    }
    final boolean[] present = new boolean[keys];
    reader.batchGet(all, founds, present);
    for (int i = 0; i < keys; i++) {
      final GetResponse expected = get(server, all.get(i));
      assertEquals(expected.hasEntry(), present[i], "seed=" + SEED + " key=" + i);
      assertEquals(expected.hasEntry(), reader.get(all.get(i), found), "seed=" + SEED);
      if (expected.hasEntry()) {
        for (final DirectValue one : new DirectValue[] {found, founds[i]}) {
          assertEquals(expected.getEntry().getValue(), one.value(), "seed=" + SEED + " key=" + i);
          assertEquals(expected.getEntry().getVersion(), one.version(), "seed=" + SEED);
        }
      }
    }
  }

  @Test
  void neverSeesLessThanWasAnsweredBefore() throws Exception {
    final AtomicBoolean ended = new AtomicBoolean();
    try (DirectServer server = DirectServer.start(directory);
        DirectReader reader = server.openReader("")) {
      final long[] answered = new long[8];
      final Thread writer =
          new Thread(
              () -> {
                for (int i = 0; i < 1_500; i++) {
                  final long version = put(server, "", number(i % 8), number(i));
                  synchronized (answered) {
                    answered[i % 8] = version;
                  }
                  put(server, "", number(8 + i), ONE); // the index grows
                }
                ended.set(true);
              });
      writer.start();
      long reads = 0;
      while (!ended.get()) {
        final int key = (int) (reads++ % 8);
        final long least;
        synchronized (answered) {
          least = answered[key];
        }
        final long version = reader.get(number(key), found) ? found.version() : 0;
        assertTrue(version >= least, "version=" + version + " least=" + least);
      }
      writer.join();
      assertTrue(reader.directReads() > reader.callReads(), "reads=" + reads);
    }
  }

  static Stream<Arguments> refusals() {
    final ServerInterceptor any = new Passing(SecurityLevel.NONE);
    final ServerInterceptor encrypted = new Passing(SecurityLevel.PRIVACY_AND_INTEGRITY);
    return Stream.of(
        refusal(Mode.NEVER, builder -> {}, "the server grants no direct reads"),
        refusal(
            Mode.UNLESS_INTERCEPTED,
            builder -> builder.intercept(any),
            "the server has interceptors, which direct reads would not pass"),
        refusal(
            Mode.ALWAYS,
            builder -> builder.intercept(encrypted).plaintextFabrics(),
            "shm is plaintext, and the server keeps encrypted calls off it"));
  }

  private static Arguments refusal(Mode mode, Consumer<RingServerBuilder> settings, String reason) {
    return Arguments.of(mode, settings, "FAILED_PRECONDITION: " + reason);
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void refusedReaderReadsByCallsAndSaysWhy(
      Mode mode, Consumer<RingServerBuilder> settings, String reason) throws Exception {
    try (DirectServer server = DirectServer.start(directory, mode, settings);
        DirectReader reader = server.openReader("")) {
      put(server, "", KEY, ONE);
      assertTrue(reader.get(KEY, found));
      assertEquals(ONE, found.value());
      assertFalse(reader.get(TWO, found));
      assertFalse(reader.isDirect());
      assertEquals(reason, reader.obstacle());
      assertEquals(0, reader.directReads());
      assertEquals(2, reader.callReads());
      assertReadsBatch(reader);
    }
  }

  private static void assertReadsBatch(DirectReader reader) {
    final DirectValue[] founds = {new DirectValue(), new DirectValue()};
    final boolean[] present = {true, true};
    reader.batchGet(List.of(TWO, KEY), founds, present);
    assertFalse(present[0]);
    assertTrue(present[1]);
    assertEquals(ONE, founds[1].value());
  }

  /** The entries are longer than one answer may be; all keys together, than one request. */
  @Test
  void batchByCallsTakesAsManyAsItNeeds() throws Exception {
    final ByteString value = ByteString.copyFrom(new byte[1 << 20]);
    try (DirectServer server = DirectServer.start(directory, Mode.NEVER, builder -> {});
        DirectReader reader = server.openReader("", Duration.ofMinutes(1))) {
      final List<ByteString> keys = new ArrayList<>();
      for (int i = 0; i < 7; i++) {
        keys.add(number(i));
        put(server, "", number(i), value);
      }
      final ByteString padding = ByteString.copyFrom(new byte[1000]);
      while (keys.size() < 5_000) {
        keys.add(padding.concat(number(keys.size())));
      }
      final DirectValue[] founds =
          Stream.generate(DirectValue::new).limit(keys.size()).toArray(DirectValue[]::new);
      final boolean[] present = new boolean[keys.size()];
      final long incarnation = get(server, KEY).getIncarnation();
      reader.batchGet(keys, founds, present);
      for (int i = 0; i < keys.size(); i++) {
        assertEquals(i < 7, present[i], "key=" + i);
        if (present[i]) {
          assertEquals(value, founds[i].value(), "key=" + i);
          assertEquals(get(server, keys.get(i)).getEntry().getVersion(), founds[i].version());
        }
        assertEquals(incarnation, founds[i].incarnation(), "key=" + i);
      }
      assertEquals(keys.size(), reader.callReads());
    }
  }

  @Test
  void valuesNameTheIncarnationOnEitherWay() throws Exception {
    try (DirectServer server = DirectServer.start(directory);
        DirectReader direct = server.openReader("");
        DirectReader absent = server.openReader("none")) {
      put(server, "", KEY, ONE);
      final long incarnation = get(server, KEY).getIncarnation();
      assertEquals(incarnation, direct.incarnation());
      assertTrue(direct.get(KEY, found));
      assertEquals(incarnation, found.incarnation());
      assertFalse(absent.get(KEY, found));
      assertEquals(0, found.incarnation());
      assertFalse(direct.get(TWO, found));
      assertEquals(incarnation, found.incarnation());
    }
  }

  static Stream<Consumer<RingServerBuilder>> permissions() {
    return Stream.of(
        builder -> builder.intercept(new Passing(SecurityLevel.NONE)),
        builder -> builder.intercept(new Passing(SecurityLevel.PRIVACY_AND_INTEGRITY)));
  }

  @ParameterizedTest
  @MethodSource("permissions")
  void serverMayGrantInSpiteOfInterceptorsAndEncryptionIsNoObstacleOnShm(
      Consumer<RingServerBuilder> settings) throws Exception {
    try (DirectServer server = DirectServer.start(directory, Mode.ALWAYS, settings);
        DirectReader reader = server.openReader("")) {
      assertTrue(reader.isDirect(), reader::obstacle);
    }
  }

  @Test
  void clientWithAnotherDirectoryReadsByCalls(@TempDir Path other) throws Exception {
    try (DirectServer server = DirectServer.start(directory)) {
      put(server, "", KEY, ONE);
      final DirectContext context = new DirectContext().shmDirectory(other);
      final ManagedChannel channel = server.newChannel();
      try (DirectReader reader = DirectReader.open(channel, "", context)) {
        assertTrue(reader.get(KEY, found));
        assertFalse(reader.isDirect());
        assertTrue(reader.obstacle().startsWith("FAILED_PRECONDITION: "), reader::obstacle);
      } finally {
        channel.shutdownNow();
      }
    }
  }

  @Test
  void indexThatIsCreatedLaterIsReadDirectlyThen() throws Exception {
    try (DirectServer server = DirectServer.start(directory);
        DirectReader reader = server.openReader("a")) {
      assertFalse(reader.isDirect());
      assertEquals("NOT_FOUND: no such index: index=a", reader.obstacle());
      assertFalse(reader.get(KEY, found));
      server.createHash("a");
      put(server, "a", KEY, ONE);
      await(() -> reader.get(KEY, found) && reader.isDirect());
      assertNull(reader.obstacle());
    }
  }

  /** The first write makes it an ordered one. */
  @Test
  void indexThatItsFirstWriteCreatesIsReadDirectlyThen() throws Exception {
    try (DirectServer server = DirectServer.start(directory);
        DirectReader reader = server.openReader("a")) {
      assertFalse(reader.get(KEY, found));
      put(server, "a", KEY, ONE);
      await(() -> reader.get(KEY, found) && reader.isDirect());
      final long calls = reader.callReads();
      assertTrue(reader.get(KEY, found));
      assertEquals(ONE, found.value());
      assertFalse(reader.get(TWO, found));
      assertEquals(calls, reader.callReads());
    }
  }

  @Test
  void droppedIndexIsLeftAndItsSuccessorFound() throws Exception {
    try (DirectServer server = DirectServer.start(directory);
        DirectReader reader = server.openReader("a")) {
      for (int round = 1; round <= 5; round++) {
        final ByteString value = number(round);
        server.createHash("a");
        put(server, "a", KEY, value);
        await(() -> reader.get(KEY, found) && reader.isDirect());
        assertEquals(value, found.value());
        server.admin().dropIndex(DropIndexRequest.newBuilder().setIndex("a").build());
        // Its memory goes to others, and shows their entries.
        for (int i = 0; i < 100; i++) {
          put(server, "b", number(i), value);
        }
        assertFalse(reader.get(KEY, found));
        assertEquals(round, reader.turns());
        assertFalse(reader.isDirect());
      }
    }
  }

  @Test
  void dropsUnderReadsShowNothingElse() throws Exception {
    final AtomicBoolean ended = new AtomicBoolean();
    try (DirectServer server = DirectServer.start(directory);
        DirectReader reader = server.openReader("a")) {
      final Thread writer =
          new Thread(
              () -> {
                for (int i = 0; i < 100; i++) {
                  server.createHash("a");
                  put(server, "a", KEY, ONE);
                  server.createHash("b");
                  put(server, "b", KEY, TWO);
                  final String name = i % 2 == 0 ? "a" : "b";
                  server.admin().dropIndex(DropIndexRequest.newBuilder().setIndex(name).build());
                }
                ended.set(true);
              });
      writer.start();
      while (!ended.get()) {
        try {
          if (reader.get(KEY, found)) {
            assertEquals(ONE, found.value());
          }
        } catch (StatusRuntimeException e) { // a call came in the moment in which it is dropped
          assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode(), e.toString());
        }
      }
      writer.join();
      assertTrue(reader.turns() > 0);
    }
  }

  @Test
  void grantEndsWithTheConnection() throws Exception {
    try (DirectServer server = DirectServer.start(directory)) {
      put(server, "", KEY, ONE);
      final ManagedChannel channel = server.newChannel();
      try (DirectReader reader = server.openReader(channel, "")) {
        assertTrue(reader.get(KEY, found));
        assertTrue(reader.isDirect());
        channel.shutdownNow();
        final StatusRuntimeException ended =
            assertThrows(
                StatusRuntimeException.class,
                () -> {
                  final long startNs = System.nanoTime();
                  while (System.nanoTime() - startNs < LIMIT_NS) {
                    reader.get(KEY, found);
                  }
                });
        assertEquals(Status.Code.UNAVAILABLE, ended.getStatus().getCode());
        assertEquals(1, reader.turns());
        assertFalse(reader.isDirect());
      }
    }
  }

  @Test
  void memoryThatComesLaterIsReadDirectlyToo() throws Exception {
    try (DirectServer server = DirectServer.start(directory);
        DirectReader reader = server.openReader("")) {
      final ByteString value = ByteString.copyFrom(new byte[1 << 20]);
      for (int i = 0; i < 40; i++) { // more than two segments
        put(server, "", number(i), value);
      }
      await(
          () -> {
            final long calls = reader.callReads();
            for (int i = 0; i < 40; i++) {
              assertTrue(reader.get(number(i), found));
              assertEquals(value.size(), found.length());
            }
            return reader.callReads() == calls;
          });
      assertTrue(reader.isDirect());
      assertEquals(0, reader.turns());
    }
  }

  @Test
  @Tag("slow")
  void manyReadersOneAfterTheOtherLeaveNoGrants() throws Exception {
    try (DirectServer server = DirectServer.start(directory)) {
      put(server, "", KEY, ONE);
      for (int i = 0; i < 1_100; i++) { // a domain admits 1,024 peers at a time
        try (DirectReader reader = server.openReader("")) {
          assertTrue(reader.isDirect(), reader::obstacle);
        }
      }
    }
  }

  @Test
  void closedReaderIsClosed() throws Exception {
    try (DirectServer server = DirectServer.start(directory)) {
      final DirectReader reader = server.openReader("");
      reader.close();
      reader.close();
      assertThrows(IllegalStateException.class, () -> reader.get(KEY, found));
    }
  }

  private static void await(BooleanSupplier done) throws InterruptedException {
    final long startNs = System.nanoTime();
    while (!done.getAsBoolean()) {
      assertTrue(System.nanoTime() - startNs < LIMIT_NS, "nothing came of it");
      Thread.sleep(1);
    }
  }

  private static long put(DirectServer server, String index, ByteString key, ByteString value) {
    return server
        .index()
        .put(PutRequest.newBuilder().setIndex(index).setKey(key).setValue(value).build())
        .getVersion();
  }

  private static void delete(DirectServer server, ByteString key) {
    final var unused = server.index().delete(DeleteRequest.newBuilder().setKey(key).build());
  }

  private static GetResponse get(DirectServer server, ByteString key) {
    return server.index().get(GetRequest.newBuilder().setKey(key).build());
  }

  private static ByteString number(int number) {
    return ByteString.copyFromUtf8("key" + number);
  }

  /** Lets every call pass, as if its connection had a certain level of security. */
  private record Passing(SecurityLevel level) implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      return next.startCall(
          new SimpleForwardingServerCall<>(call) {
            @Override
            public SecurityLevel getSecurityLevel() {
              return level;
            }
          },
          headers);
    }
  }
}
