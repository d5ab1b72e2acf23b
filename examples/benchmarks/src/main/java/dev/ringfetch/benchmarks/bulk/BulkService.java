package dev.ringfetch.benchmarks.bulk;

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import com.google.protobuf.Empty;
import dev.ringfetch.benchmarks.v1.BulkGrpc.BulkImplBase;
import dev.ringfetch.benchmarks.v1.Received;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;

/** The service that receives bulk: checks a few bytes of each message, and counts. */
public final class BulkService extends BulkImplBase {
  /** Longest message that a server of this service has to accept, in bytes. */
  public static final int MAX_MESSAGE_LENGTH = 128 * 1024 * 1024;

  @Override
  public void store(BytesValue request, StreamObserver<Empty> response) {
    check(request.getValue());
    response.onNext(Empty.getDefaultInstance());
    response.onCompleted();
  }

  @Override
  public StreamObserver<BytesValue> upload(StreamObserver<Received> response) {
    return new Counter(response);
  }

  private static void check(ByteString value) {
    Payload.check(value::byteAt, value.size());
  }

  /** The messages and bytes of one stream so far. */
  private static final class Counter implements StreamObserver<BytesValue> {
    private final StreamObserver<Received> response;
    private long messages;
    private long bytes;
    private boolean failed;

    Counter(StreamObserver<Received> response) {
      this.response = response;
    }

    @Override
    public void onNext(BytesValue message) {
      if (failed) {
        return;
      }
      try {
        check(message.getValue());
      } catch (IllegalStateException e) {
        failed = true;
        response.onError(Status.DATA_LOSS.withDescription(e.getMessage()).asRuntimeException());
      }
      messages++;
      bytes += message.getValue().size();
    }

    @Override
    public void onError(Throwable t) {
      // The client has gone: there is nobody to answer.
    }

    @Override
    public void onCompleted() {
      if (!failed) {
        response.onNext(Received.newBuilder().setMessages(messages).setBytes(bytes).build());
        response.onCompleted();
      }
    }
  }
}
