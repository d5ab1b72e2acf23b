package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.benchmarks.v1.BulkGrpc;
import dev.ringfetch.benchmarks.v1.Received;
import io.grpc.HasByteBuffer;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * The upload of {@link BulkService}, by a server that reads messages where they have arrived: its
 * marshaller looks at their bytes, and keeps none.
 */
public final class InPlace {
  static final String NAME = "ringfetch.benchmarks.v1.InPlace";

  private static final int TAG_LENGTH = 1;

  private InPlace() {}

  /** The service. */
  public static ServerServiceDefinition service() {
    final MethodDescriptor<Integer, Received> method =
        BulkGrpc.getUploadMethod().toBuilder(
                new Looking(), BulkGrpc.getUploadMethod().getResponseMarshaller())
            .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, "Upload"))
            .build();
    return ServerServiceDefinition.builder(NAME)
        .addMethod(method, ServerCalls.asyncClientStreamingCall(Counter::new))
        .build();
  }

  /** Checks a payload in place, and returns its length. */
  private static final class Looking implements MethodDescriptor.Marshaller<Integer> {
    @Override
    public InputStream stream(Integer value) {
      throw new UnsupportedOperationException("length=" + value);
    }

    @Override
    public Integer parse(InputStream stream) {
      final ByteBuffer message = ((HasByteBuffer) stream).getByteBuffer();
      int start = TAG_LENGTH;
      int length = 0;
      int shift = 0;
      byte part;
      do {
        part = message.get(start++);
        length |= (part & 0x7F) << shift;
        shift += 7;
      } while (part < 0);
      if (message.remaining() != start + length) {
        throw new IllegalStateException("length=" + length + " of " + message.remaining());
      }
      final int first = start;
      Payload.check(index -> message.get(first + index), length);
      return length;
    }
  }

  private static final class Counter implements StreamObserver<Integer> {
    private final StreamObserver<Received> response;
    private long messages;
    private long bytes;

    Counter(StreamObserver<Received> response) {
      this.response = response;
    }

    @Override
    public void onNext(Integer length) {
      messages++;
      bytes += length;
    }

    @Override
    public void onError(Throwable t) {
      // The client has gone: there is nobody to answer.
    }

    @Override
    public void onCompleted() {
      response.onNext(Received.newBuilder().setMessages(messages).setBytes(bytes).build());
      response.onCompleted();
    }
  }
}
