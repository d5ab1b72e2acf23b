package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.Session;
import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.system.Await;
import dev.ringfetch.system.Warnings;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.Detachable;
import io.grpc.Grpc;
import io.grpc.HasByteBuffer;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages in registered memory, from the application at one side to that at the other. */
final class RegisteredBufferTest {
  private static final MethodDescriptor<Any, Any> ECHO =
      method("Echo", ProtoUtils.marshaller(Any.getDefaultInstance()));
  private static final MethodDescriptor<InputStream, InputStream> RAW = method("Raw", new Raw());
  private static final int TIMEOUT_S = 30;

  @TempDir Path directory;

  private final List<BufferAllocator> allocators = new CopyOnWriteArrayList<>();
  private final List<InputStream> detached = new CopyOnWriteArrayList<>();
  private Server server;
  private RingChannel channel;

  private static <T> MethodDescriptor<T, T> method(
      String name, MethodDescriptor.Marshaller<T> marshaller) {
    return MethodDescriptor.<T, T>newBuilder(marshaller, marshaller)
        .setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName("test.Bulk/" + name)
        .build();
  }

  /** What a marshaller of an application may do with what has come. */
  private static final class Raw implements MethodDescriptor.Marshaller<InputStream> {
    @Override
    public InputStream stream(InputStream value) {
      return value;
    }

    @Override
    public InputStream parse(InputStream stream) {
      assertTrue(((HasByteBuffer) stream).byteBufferSupported());
      return ((Detachable) stream).detach();
    }
  }

  @BeforeEach
  void start() throws IOException {
    final ServerServiceDefinition service =
        ServerServiceDefinition.builder("test.Bulk")
            .addMethod(
                ECHO,
                ServerCalls.asyncUnaryCall(
                    (request, responses) -> {
                      responses.onNext(request);
                      responses.onCompleted();
                    }))
            .addMethod(
                RAW,
                ServerCalls.asyncUnaryCall(
                    (request, responses) -> {
                      detached.add(request);
                      responses.onNext(new ByteArrayInputStream(new byte[0]));
                      responses.onCompleted();
                    }))
            .build();
    server =
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .spinTime(Duration.ZERO)
            .maxInboundMessageSize(64 << 20)
            .addService(ServerInterceptors.intercept(service, this::note))
            .build()
            .start();
    channel =
        RingChannelBuilder.forTarget("localhost:" + server.getPort())
            .usePlaintext()
            .shmDirectory(directory)
            .spinTime(Duration.ZERO)
            .maxInboundMessageSize(64 << 20)
            .requireFabric()
            .build();
  }

  private <A, B> ServerCall.Listener<A> note(
      ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> next) {
    allocators.add(call.getAttributes().get(BufferAllocator.ATTRIBUTE));
    return next.startCall(call, headers);
  }

  @AfterEach
  void stop() throws InterruptedException {
    Buffers.verifyClosed(directory);
    channel.shutdownNow();
    server.shutdownNow();
    assertTrue(channel.awaitTermination(TIMEOUT_S, TimeUnit.SECONDS));
    assertTrue(server.awaitTermination(TIMEOUT_S, TimeUnit.SECONDS));
    assertEquals(0, channel.grpcCalls());
  }

  private Any echo(Any request) {
    return ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, request);
  }

  private BulkPool pool() {
    return channel.ring().session().bulk();
  }

  /** Long messages have memory from here on. */
  private void warmUp() {
    final Any small = Any.newBuilder().setValue(ByteString.copyFrom(new byte[100_000])).build();
    for (int i = 0; i < 3; i++) {
      echo(small);
    }
  }

  private static byte[] bytes(int length) {
    final byte[] bytes = new byte[length];
    new SplittableRandom(length).nextBytes(bytes);
    return bytes;
  }

  /** Memory comes back when the peer has read, which the next call hears of. */
  private void assertAllFree() {
    echo(Any.getDefaultInstance());
    echo(Any.getDefaultInstance());
    assertEquals(0, pool().usedLength());
  }

  private static RegisteredMessage message(RegisteredBuffer buffer) {
    final Any rest = Any.newBuilder().setTypeUrl("url").build();
    return RegisteredMessage.of(rest, Any.VALUE_FIELD_NUMBER, buffer);
  }

  private static Any send(Channel by, RegisteredBuffer buffer) {
    return ClientCalls.blockingUnaryCall(
        by, RegisteredMessage.requests(ECHO), CallOptions.DEFAULT, message(buffer));
  }

  private void checkEcho(RegisteredBuffer buffer, byte[] content) {
    final Any answer = send(channel, buffer);
    assertEquals("url", answer.getTypeUrl());
    assertArrayEquals(content, answer.getValue().toByteArray(), "length=" + content.length);
  }

  @Test
  void messagesInRegisteredMemoryArriveAsTheyAre() {
    warmUp();
    for (final int length : new int[] {32_769, 65_536, 262_144, 262_145, 1 << 20, 3_000_000}) {
      final byte[] content = bytes(length);
      try (RegisteredBuffer buffer = channel.allocator().allocate(length)) {
        assertTrue(buffer.isRegistered(), "length=" + length);
        buffer.buffer().put(content);
        checkEcho(buffer, content);
        checkEcho(buffer, content); // as often as one likes
      }
    }
    assertAllFree();
  }

  /** A copy would find no registered memory, and go as a chain. */
  @Test
  void theyAreNotCopied() {
    warmUp();
    final List<RegisteredBuffer> all = takeAll();
    final RegisteredBuffer buffer = all.get(all.size() - 1);
    final Session session = channel.ring().session();
    for (int i = 1; i <= 10; i++) {
      final long before = session.count(Counter.SESSION_BULK_SENT);
      send(channel, buffer);
      assertEquals(buffer.length(), session.count(Counter.SESSION_BULK_SENT) - before);
    }
    all.forEach(RegisteredBuffer::close);
    assertAllFree();
  }

  /** All that a pool has, in pieces. */
  private List<RegisteredBuffer> takeAll() {
    final List<RegisteredBuffer> all = new ArrayList<>();
    for (int refused = 0; refused < 20; ) {
      final RegisteredBuffer buffer = channel.allocator().allocate(1 << 20);
      if (buffer.isRegistered()) {
        all.add(buffer);
        refused = 0;
      } else {
        refused++;
        echo(Any.getDefaultInstance()); // what was offered is answered
      }
    }
    return all;
  }

  @Test
  void whatIsNotOfTheRingIsCopied() throws InterruptedException {
    final byte[] content = bytes(70_000);
    final ManagedChannel plain =
        Grpc.newChannelBuilder("localhost:" + server.getPort(), InsecureChannelCredentials.create())
            .build();
    warmUp();
    try (RegisteredBuffer buffer = channel.allocator().allocate(content.length);
        RegisteredBuffer small = channel.allocator().allocate(100)) {
      buffer.buffer().put(content);
      assertArrayEquals(content, send(plain, buffer).getValue().toByteArray());
      small.buffer().put(content, 0, 100);
      checkEcho(small, Arrays.copyOf(content, 100));
      channel.ring().session().end("the test wants it");
      checkEcho(buffer, content);
    } finally {
      plain.shutdownNow();
      assertTrue(plain.awaitTermination(TIMEOUT_S, TimeUnit.SECONDS));
    }
  }

  @Test
  void buffersAreOrdinaryWhereTheyCannotBeRegistered() {
    final BufferAllocator allocator = channel.allocator();
    try (RegisteredBuffer buffer = allocator.allocate(100_000)) {
      assertFalse(buffer.isRegistered(), "there is no ring");
    }
    warmUp();
    try (RegisteredBuffer small = allocator.allocate(32_768);
        RegisteredBuffer large = allocator.allocate((64 << 20) + 1)) {
      assertFalse(small.isRegistered());
      assertFalse(large.isRegistered());
    }
    assertThrows(IllegalArgumentException.class, () -> allocator.allocate(0));
    assertEquals(1, allocator.allocate(1).length());
    final List<RegisteredBuffer> all = takeAll();
    assertTrue(all.size() >= 12, "buffers=" + all.size());
    final Any request = Any.newBuilder().setValue(ByteString.copyFrom(bytes(1 << 20))).build();
    assertEquals(request, echo(request), "a pool that is empty keeps nobody waiting");
    all.forEach(RegisteredBuffer::close);
    assertAllFree();
  }

  @Test
  void aClosedBufferIsNobodys() {
    warmUp();
    final RegisteredBuffer buffer = channel.allocator().allocate(100_000);
    buffer.close();
    buffer.close();
    assertThrows(IllegalStateException.class, buffer::buffer);
    final RegisteredMessage late = message(buffer);
    final MethodDescriptor<RegisteredMessage, Any> method = RegisteredMessage.requests(ECHO);
    assertThrows(IllegalStateException.class, () -> method.streamRequest(late));
    assertAllFree();
  }

  private void forget() {
    assertTrue(channel.allocator().allocate(100_000).isRegistered());
  }

  @Test
  void aForgottenBufferIsReported() throws Exception {
    try (Warnings warnings = new Warnings(BulkPool.class)) {
      warmUp();
      final ClientSession session = channel.ring().session();
      forget();
      assertThrows(AssertionError.class, () -> Buffers.verifyClosed(directory));
      Await.until(
          "the collector",
          TIMEOUT_S,
          () -> {
            System.gc();
            warmUp(); // the next request for memory
            return session.count(Counter.SESSION_BUFFERS_LEAKED) == 1;
          });
      assertEquals(1, session.count(Counter.SESSION_BUFFERS_LENT));
      assertEquals(1, warnings.records().size());
      session.end("the test wants it"); // and nothing is lost any more
    }
  }

  @Test
  void handlersHaveAnAllocatorOfTheirSession() {
    warmUp();
    final BufferAllocator own = allocators.get(0);
    assertNotNull(own);
    allocators.forEach(each -> assertEquals(own, each));
    try (RegisteredBuffer buffer = own.allocate(100_000)) {
      assertTrue(buffer.isRegistered());
    }
  }

  @Test
  void detachedMessagesOutliveTheirCalls() throws IOException {
    final int calls = 20;
    for (int i = 0; i < calls; i++) {
      ClientCalls.blockingUnaryCall(
          channel, RAW, CallOptions.DEFAULT, new ByteArrayInputStream(bytes(i * 30_000)));
    }
    assertEquals(calls, detached.size());
    for (int i = 0; i < calls; i++) {
      final InputStream message = detached.get(i);
      final ByteBuffer view = ((HasByteBuffer) message).getByteBuffer();
      if (i == 0) {
        assertNull(view, "nothing is left to be read");
      } else {
        assertTrue(view.isReadOnly());
        assertEquals(ByteBuffer.wrap(bytes(i * 30_000)), view);
      }
      assertArrayEquals(bytes(i * 30_000), readAll(message));
    }
  }

  private static byte[] readAll(InputStream message) {
    try (message) {
      return message.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
