package dev.ringfetch.benchmarks.bulk;

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import dev.ringfetch.benchmarks.v1.BulkGrpc;
import dev.ringfetch.benchmarks.v1.BulkGrpc.BulkStub;
import io.grpc.Channel;

/** The upload by one client-streaming call; the thread that signals readiness sends. */
public final class StreamUpload implements Upload {
  private final BulkStub stub;

  /** Creates an upload over a channel of any kind. */
  public StreamUpload(Channel channel) {
    this.stub = BulkGrpc.newStub(channel);
  }

  /** The message that carries a payload of some length. */
  static BytesValue message(int length) {
    return BytesValue.of(ByteString.copyFrom(Payload.of(length)));
  }

  @Override
  public Transfer run(int length, long millis) throws Exception {
    final BytesValue message = message(length);
    final Sender<BytesValue> sender = new Sender<>(() -> message, length, null);
    stub.upload(sender);
    sender.stopAfter(millis);
    return sender.awaitEnd();
  }
}
