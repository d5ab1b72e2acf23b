package dev.ringfetch.benchmarks.bulk;

import com.google.protobuf.BytesValue;
import dev.ringfetch.benchmarks.v1.BulkGrpc;
import dev.ringfetch.benchmarks.v1.BulkGrpc.BulkBlockingStub;
import io.grpc.Channel;
import java.util.concurrent.TimeUnit;

/** The upload by unary calls of a blocking stub, one call after the other. */
public final class UnaryUpload implements Upload {
  private static final int LEAST = 2;

  private final BulkBlockingStub stub;

  /** Creates an upload over a channel of any kind. */
  public UnaryUpload(Channel channel) {
    this.stub = BulkGrpc.newBlockingStub(channel);
  }

  @Override
  public Transfer run(int length, long millis) {
    final BytesValue message = StreamUpload.message(length);
    final long lengthNs = TimeUnit.MILLISECONDS.toNanos(millis);
    final long startNs = System.nanoTime();
    long messages = 0;
    long elapsedNs = 0;
    while (messages < LEAST || elapsedNs < lengthNs) {
      final var unused = stub.store(message); // each answer says that its request was taken in
      messages++;
      elapsedNs = System.nanoTime() - startNs;
    }
    return new Transfer(messages, messages * length, elapsedNs);
  }
}
