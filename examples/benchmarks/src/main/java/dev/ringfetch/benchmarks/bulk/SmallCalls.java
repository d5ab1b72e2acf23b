package dev.ringfetch.benchmarks.bulk;

import com.google.protobuf.BytesValue;
import com.google.protobuf.Empty;
import dev.ringfetch.benchmarks.v1.BulkGrpc.BulkStub;
import dev.ringfetch.examples.load.Figures;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Small unary calls, each issued by the callback that ends the one before. */
final class SmallCalls implements StreamObserver<Empty> {
  /** Length of a request's payload, in bytes. */
  static final int LENGTH = 32;

  private static final int DIGITS = 3;
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(Upload.PATIENCE_SECONDS);

  private final Histogram latencies = new Histogram(LONGEST_NS, DIGITS);
  private final CompletableFuture<Figures> figures = new CompletableFuture<>();
  private final BytesValue request = StreamUpload.message(LENGTH);
  private final BulkStub stub;
  private final long lengthNs;
  private long startNs;
  private long issuedNs;

  /** Creates calls that go on for some time once they have begun. */
  SmallCalls(BulkStub stub, long millis) {
    this.stub = stub;
    this.lengthNs = TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Issues the first of them. */
  void begin() {
    startNs = System.nanoTime();
    issuedNs = startNs;
    stub.store(request, this);
  }

  @Override
  public void onNext(Empty answer) {
    // The call's end is what is waited for.
  }

  @Override
  public void onError(Throwable t) {
    figures.completeExceptionally(t);
  }

  @Override
  public void onCompleted() {
    final long nowNs = System.nanoTime();
    latencies.recordValue(Math.min(nowNs - issuedNs, LONGEST_NS));
    if (nowNs - startNs < lengthNs) {
      issuedNs = nowNs;
      stub.store(request, this);
    } else {
      figures.complete(Figures.of(latencies, nowNs - startNs));
    }
  }

  /** Waits for the last of them. */
  Figures awaitEnd() throws Exception {
    return figures.get(
        TimeUnit.NANOSECONDS.toSeconds(lengthNs) + Upload.PATIENCE_SECONDS, TimeUnit.SECONDS);
  }
}
