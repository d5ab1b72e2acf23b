package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Long messages that fail while they are marshalled: what they have taken of registered memory is
 * there for the next at once, not when the collector comes by.
 */
final class BrokenMessageTest extends RingFixture {
  private static final int LENGTH = 300_000;

  /** So much that it would not suffice for as many as are broken. */
  private static final int POOL = 4 << 20;

  private static final int BROKEN = 40;

  private static final byte WHOLE = 0;
  private static final byte EXCEPTION = 1;
  private static final byte ERROR = 2;

  private final AtomicReference<BufferAllocator> served = new AtomicReference<>();

  /** A message that fails as its first byte says. */
  private static final class Breaking extends ByteArrayInputStream
      implements KnownLength, Drainable {
    Breaking(byte[] message) {
      super(message);
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      target.write(buf, 0, LENGTH / 2);
      if (buf[0] == EXCEPTION) {
        throw new IllegalStateException("by a test");
      }
      throw new AssertionError("by a test");
    }
  }

  private static final class Marshaller implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return value.length > 0 && value[0] != WHOLE
          ? new Breaking(value)
          : new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      return Bytes.MARSHALLER.parse(stream);
    }
  }

  private static MethodDescriptor<byte[], byte[]> method(MethodType type) {
    return MethodDescriptor.newBuilder(new Marshaller(), new Marshaller())
        .setType(type)
        .setFullMethodName("test.Broken/" + type)
        .build();
  }

  /** Answers with a long message that is broken as the request says. */
  private ServerCallHandler<byte[], byte[]> handler() {
    return (call, headers) -> {
      served.set(call.getAttributes().get(BufferAllocator.ATTRIBUTE));
      call.request(2);
      return new ServerCall.Listener<>() {
        @Override
        public void onMessage(byte[] request) {
          final byte[] response = new byte[LENGTH];
          response[0] = request[1];
          call.sendHeaders(new Metadata());
          try {
            call.sendMessage(response);
          } catch (AssertionError e) {
            return; // the call has been answered
          }
          if (request[1] == WHOLE) {
            call.close(Status.OK, new Metadata());
          }
        }
      };
    };
  }

  private RingChannel start() throws Exception {
    serve(
        Bytes.digesting(),
        builder -> {
          final ServerServiceDefinition.Builder service =
              ServerServiceDefinition.builder("test.Broken");
          for (final MethodType type :
              new MethodType[] {MethodType.UNARY, MethodType.BIDI_STREAMING}) {
            service.addMethod(method(type), handler());
          }
          return builder.bulkMemory(16 << 10, POOL).addService(service.build());
        });
    return connect(builder().requireFabric().bulkMemory(16 << 10, POOL).spinTime(Duration.ZERO));
  }

  private static byte[] call(RingChannel channel, MethodType type, byte[] request) {
    return type == MethodType.UNARY
        ? ClientCalls.blockingUnaryCall(channel, method(type), CallOptions.DEFAULT, request)
        : ClientCalls.blockingServerStreamingCall(
                channel, method(type), CallOptions.DEFAULT, request)
            .next();
  }

  private static byte[] request(int length, byte own, byte response) {
    final byte[] request = new byte[length];
    request[0] = own;
    request[1] = response;
    return request;
  }

  /** Both sides have memory from here on. */
  private static void warmUp(RingChannel channel, MethodType type) {
    for (int i = 0; i < 4; i++) {
      assertEquals(LENGTH, call(channel, type, request(LENGTH, WHOLE, WHOLE)).length);
    }
  }

  private static boolean isAvailable(BufferAllocator allocator) {
    try (RegisteredBuffer most = allocator.allocate(POOL / 4 * 3)) {
      return most.isRegistered();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"UNARY", "BIDI_STREAMING"})
  void ofAClient(MethodType type) throws Exception {
    final RingChannel channel = start();
    warmUp(channel, type);
    for (int i = 0; i < BROKEN; i++) {
      final byte kind = i % 2 == 0 ? EXCEPTION : ERROR;
      final ClientCall<byte[], byte[]> call = channel.newCall(method(type), CallOptions.DEFAULT);
      call.start(new ClientCall.Listener<>() {}, new Metadata());
      final byte[] request = request(LENGTH, kind, WHOLE);
      if (kind == EXCEPTION) {
        call.sendMessage(request);
      } else {
        assertThrows(AssertionError.class, () -> send(call, request));
      }
    }
    warmUp(channel, type); // in which the memory of the whole ones comes back
    await(
        "memory was lost",
        () -> {
          call(channel, type, request(2, WHOLE, WHOLE)); // whose answer tells what was read
          return isAvailable(channel.allocator());
        });
  }

  private static void send(ClientCall<byte[], byte[]> call, byte[] request) {
    call.sendMessage(request);
    call.halfClose(); // a call of one message may wait for it
  }

  @ParameterizedTest
  @EnumSource(names = {"UNARY", "BIDI_STREAMING"})
  void ofAServer(MethodType type) throws Exception {
    final RingChannel channel = start();
    warmUp(channel, type);
    for (int i = 0; i < BROKEN; i++) {
      final byte kind = i % 2 == 0 ? EXCEPTION : ERROR;
      assertThrows(
          StatusRuntimeException.class, () -> call(channel, type, request(2, WHOLE, kind)));
    }
    for (int i = 0; i < 3; i++) { // in which the memory of the whole ones comes back
      call(channel, type, request(2, WHOLE, WHOLE));
    }
    await("memory was lost", () -> isAvailable(served.get()));
  }
}
