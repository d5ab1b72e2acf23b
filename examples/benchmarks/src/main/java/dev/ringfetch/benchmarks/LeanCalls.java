package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Lookup;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.UnaryCall;
import dev.ringfetch.rpc.UnaryListener;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import org.HdrHistogram.Histogram;

/**
 * Index.Get by {@link UnaryCall}: requests are written and answers read as bytes, without a stub
 * and message objects. One run at a time.
 */
final class LeanCalls {
  private final Stopwatch stopwatch = new Stopwatch();
  private final ArrayDeque<Call> idle = new ArrayDeque<>();
  private final RingChannel channel;
  private Histogram latencies;

  LeanCalls(RingChannel channel) {
    this.channel = channel;
  }

  /** One call after the other for some time; the calling thread polls. */
  Figures oneByOne(Lookup lookup, int length, long millis) {
    latencies = stopwatch.latencies();
    return stopwatch.runFor(new Call(key(lookup), length), millis);
  }

  /** A fixed number of calls in flight, for some time; the callback of one issues the next. */
  Figures inFlight(Lookup lookup, int length, int limit, long millis) throws InterruptedException {
    final byte[] key = key(lookup);
    idle.clear();
    final CallsInFlight<Boolean> calls =
        new CallsInFlight<>(observer -> issue(observer, key, length), right -> right);
    final Figures figures = calls.runFor(limit, millis);
    latencies = calls.latencies();
    return figures;
  }

  /** What the last run took, in nanoseconds; the next one overwrites it. */
  Histogram latencies() {
    return latencies;
  }

  private static byte[] key(Lookup lookup) {
    return lookup.request().getKey().toByteArray();
  }

  private void issue(StreamObserver<Boolean> observer, byte[] key, int length) {
    final Call call = idle.isEmpty() ? new Call(key, length) : idle.removeFirst();
    call.start(observer);
  }

  /** One call after the other. */
  private final class Call implements Runnable, UnaryListener {
    private final UnaryCall call = channel.newUnaryCall(IndexGrpc.getGetMethod(), this);
    private final byte[] request = new byte[256];
    private final byte[] key;
    private final int length;
    private final byte last;
    private StreamObserver<Boolean> observer; // null: the caller waits
    private boolean right;

    Call(byte[] key, int length) {
      this.key = key;
      this.length = length;
      this.last = Lookup.valueAt(length - 1);
    }

    @Override
    public void run() {
      right = false;
      final Status status =
          call.run(request, 0, GetMessages.putRequest(request, key), UnaryCall.NO_TIMEOUT);
      if (!status.isOk()) {
        throw status.asRuntimeException();
      }
      if (!right) {
        throw new IllegalStateException("not what was stored: length=" + length);
      }
    }

    void start(StreamObserver<Boolean> told) {
      observer = told;
      call.start(request, 0, GetMessages.putRequest(request, key), UnaryCall.NO_TIMEOUT);
    }

    @Override
    public void onAnswer(UnaryCall of, byte[] answer, int offset, int answerLength) {
      right = GetMessages.isAnswer(answer, offset, answerLength, length, last);
      final StreamObserver<Boolean> told = observer;
      if (told != null) {
        idle.addFirst(this);
        told.onNext(right);
        told.onCompleted();
      }
    }

    @Override
    public void onFailure(UnaryCall of, Status status, Metadata trailers) {
      if (observer != null) {
        observer.onError(status.asRuntimeException(trailers));
      }
    }
  }
}
