package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.Stream;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Calls directly by a session: bytes there, bytes back, without stub, protobuf or call layer. One
 * run at a time.
 */
final class RingCalls {
  private static final int METHOD = 0;
  private static final int MAX_ANSWER = 4 * 1024 * 1024;

  private final Stopwatch stopwatch = new Stopwatch();
  private final ArrayDeque<Call> idle = new ArrayDeque<>();
  private final ClientSession session;
  private Histogram latencies;
  private int number;

  RingCalls(ClientSession session) {
    this.session = session;
  }

  /** One call after the other for some time; the calling thread polls. */
  Figures oneByOne(int length, long millis) {
    final Blocking call = new Blocking(length);
    latencies = stopwatch.latencies();
    return stopwatch.runFor(call, millis);
  }

  /** A fixed number of calls in flight, for some time; the callback of one issues the next. */
  Figures inFlight(int length, int limit, long millis) throws InterruptedException {
    final CallsInFlight<Boolean> calls =
        new CallsInFlight<>(observer -> issue(observer, length), right -> right);
    final Figures figures = calls.runFor(limit, millis);
    latencies = calls.latencies();
    return figures;
  }

  /** What the last run took, in nanoseconds; the next one overwrites it. */
  Histogram latencies() {
    return latencies;
  }

  private ClientStream open(int length, ClientStream.Listener listener) {
    final ClientStream stream = session.open();
    if (stream == null) {
      throw new IllegalStateException("as many calls are under way as there can be");
    }
    number++;
    RingMessage.putRequest(stream.outbound(), length, number);
    stream.prepare(listener, RingMessage.FLAGS, METHOD, Stream.NO_DEADLINE, MAX_ANSWER);
    return stream;
  }

  private void issue(StreamObserver<Boolean> observer, int length) {
    final Call call = idle.isEmpty() ? new Call() : idle.removeFirst();
    call.observer = observer;
    call.length = length;
    final ClientStream stream = open(length, call);
    call.number = number;
    session.send(stream);
  }

  private static IllegalStateException failure(ClientSession of, Outcome outcome) {
    return new IllegalStateException(outcome + ": " + of.endReason());
  }

  /** A reusable call that a thread waits for. */
  private final class Blocking implements Runnable, ClientStream.Listener {
    private final Thread caller = Thread.currentThread();
    private final int length;
    private volatile Outcome outcome;

    Blocking(int length) {
      this.length = length;
    }

    @Override
    public void run() {
      outcome = null;
      final ClientStream stream = open(length, this);
      session.sendAndPoll(stream);
      while (outcome == null) {
        LockSupport.park(this);
      }
      if (outcome != Outcome.ANSWERED) {
        throw failure(session, outcome);
      }
      final boolean right = RingMessage.isAnswer(stream.inbound(), length, number);
      session.recycle(stream);
      if (!right) {
        throw new IllegalStateException("not what was asked");
      }
    }

    @Override
    public void onClosed(ClientStream stream, Outcome how) {
      outcome = how;
      if (Thread.currentThread() != caller) {
        LockSupport.unpark(caller);
      }
    }
  }

  /** A call that no thread waits for. */
  private final class Call implements ClientStream.Listener {
    private StreamObserver<Boolean> observer;
    private int length;
    private int number;

    @Override
    public void onClosed(ClientStream stream, Outcome outcome) {
      final StreamObserver<Boolean> told = observer;
      if (outcome != Outcome.ANSWERED) {
        told.onError(failure(session, outcome));
        return;
      }
      final boolean right = RingMessage.isAnswer(stream.inbound(), length, number);
      session.recycle(stream);
      idle.addFirst(this);
      told.onNext(right);
      told.onCompleted();
    }
  }
}
