package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.load.Figures;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Calls over lanes, with a fixed number in flight: the thread that has received an answer sends the
 * next request. Answers come in the order of the requests.
 */
final class EchoesInFlight {
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int DIGITS = 3;

  private final Histogram latencies = new Histogram(LONGEST_NS, DIGITS);
  private final Lane requests;
  private final Lane answers;
  private final byte[] request;
  private final byte[] answer;
  private final long[] sentNs;
  private byte expected;

  /**
   * The request lane has room for so many requests: the client's send must not wait for the server.
   */
  EchoesInFlight(Lane requests, Lane answers, byte[] request, byte[] answer, int inFlight) {
    this.requests = requests;
    this.answers = answers;
    this.request = request;
    this.answer = answer;
    this.sentNs = new long[inFlight];
    this.expected = request[0];
  }

  /** Makes calls for some time, and receives all answers. */
  Figures runFor(long millis) {
    final long lengthNs = TimeUnit.MILLISECONDS.toNanos(millis);
    final long startNs = System.nanoTime();
    for (int i = 0; i < sentNs.length; i++) {
      send(i, startNs);
    }
    long nowNs = startNs;
    int oldest = 0;
    for (int left = sentNs.length; left > 0; ) {
      receive();
      nowNs = System.nanoTime();
      latencies.recordValue(Math.min(nowNs - sentNs[oldest], LONGEST_NS));
      if (nowNs - startNs < lengthNs) {
        send(oldest, nowNs);
      } else {
        left--;
      }
      oldest = oldest + 1 == sentNs.length ? 0 : oldest + 1;
    }
    return Figures.of(latencies, nowNs - startNs);
  }

  private void send(int index, long nowNs) {
    sentNs[index] = nowNs;
    request[0]++;
    requests.send(request);
  }

  private void receive() {
    expected++;
    if (answers.receive(answer) != answer.length || answer[0] != expected) {
      throw new IllegalStateException("not what was asked");
    }
  }

  /** The latencies of the run, in nanoseconds. */
  Histogram latencies() {
    return latencies;
  }
}
