package dev.ringfetch.benchmarks.bulk;

import com.google.protobuf.BytesValue;
import dev.ringfetch.benchmarks.v1.BulkGrpc;
import dev.ringfetch.benchmarks.v1.Received;
import dev.ringfetch.rpc.BufferAllocator;
import dev.ringfetch.rpc.RegisteredBuffer;
import dev.ringfetch.rpc.RegisteredMessage;
import dev.ringfetch.rpc.RingChannel;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import java.util.function.Supplier;

/**
 * The upload of messages that are built in registered memory, anew for each, and checked where they
 * arrive: one copy in, one copy out, as through memory alone.
 */
public final class InPlaceUpload implements Upload {
  private static final MethodDescriptor<RegisteredMessage, Received> METHOD =
      RegisteredMessage.requests(BulkGrpc.getUploadMethod()).toBuilder()
          .setFullMethodName(MethodDescriptor.generateFullMethodName(InPlace.NAME, "Upload"))
          .build();

  private final RingChannel channel;

  /** Creates an upload over a ring. */
  public InPlaceUpload(RingChannel channel) {
    this.channel = channel;
  }

  @Override
  public Transfer run(int length, long millis) throws Exception {
    final Built built = new Built(channel.allocator(), Payload.of(length));
    final Sender<RegisteredMessage> sender = new Sender<>(built, length, null);
    ClientCalls.asyncClientStreamingCall(channel.newCall(METHOD, CallOptions.DEFAULT), sender);
    sender.stopAfter(millis);
    return sender.awaitEnd();
  }

  /** Builds messages; each has been sent before the next is requested. */
  private static final class Built implements Supplier<RegisteredMessage> {
    private final BufferAllocator allocator;
    private final byte[] payload;
    private RegisteredBuffer last;

    Built(BufferAllocator allocator, byte[] payload) {
      this.allocator = allocator;
      this.payload = payload;
    }

    @Override
    public RegisteredMessage get() {
      if (last != null) {
        last.close();
      }
      last = allocator.allocate(payload.length);
      last.buffer().put(payload);
      return RegisteredMessage.of(
          BytesValue.getDefaultInstance(), BytesValue.VALUE_FIELD_NUMBER, last);
    }
  }
}
