package dev.ringfetch.benchmarks.parts;

import java.util.Locale;
import java.util.regex.Pattern;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** A part of a call that JMH measures by itself. */
public enum Part {
  /** {@link MessageParts#requestWritten}. */
  requestWritten(MessageParts.class, "requestWritten", "protobuf writes a request into a unit"),
  /** {@link MessageParts#requestRead}. */
  requestRead(MessageParts.class, "requestRead", "protobuf reads it"),
  /** {@link MessageParts#responseWritten}. */
  responseWritten(MessageParts.class, "responseWritten", "a response is made, protobuf writes it"),
  /** {@link MessageParts#responseRead}. */
  responseRead(MessageParts.class, "responseRead", "protobuf reads it"),
  /** {@link RingParts#slotWritten}. */
  slotWritten(RingParts.class, "slotWritten", "a frame is written and published"),
  /** {@link RingParts#slotWrittenAndPolled}. */
  slotWrittenAndPolled(RingParts.class, "slotWrittenAndPolled", "also found, checked and copied"),
  /** {@link RingParts#nothingPolled}. */
  nothingPolled(RingParts.class, "nothingPolled", "a look at an empty slot"),
  /** {@link CallParts#call} over {@link CallParts.Carrier#none}. */
  callOverNothing(CallParts.Carrier.none, "the stub over a transport that answers at once"),
  /** {@link CallParts#call} over {@link CallParts.Carrier#oneThread}. */
  callInOneThread(CallParts.Carrier.oneThread, "the stub over a ring, both sides in one thread"),
  /** {@link CallParts#call} over {@link CallParts.Carrier#twoThreads}. */
  callBetweenThreads(CallParts.Carrier.twoThreads, "the stub over a ring between two threads");

  private static final String BYTES = "gc.alloc.rate.norm";

  private final Class<?> type;
  private final String method;
  private final CallParts.Carrier carrier;
  private final String text;

  Part(Class<?> type, String method, String text) {
    this(type, method, null, text);
  }

  Part(CallParts.Carrier carrier, String text) {
    this(CallParts.class, "call", carrier, text);
  }

  Part(Class<?> type, String method, CallParts.Carrier carrier, String text) {
    this.type = type;
    this.method = method;
    this.carrier = carrier;
    this.text = text;
  }

  /** What it is, for people. */
  public String text() {
    return text;
  }

  /** Whether it is a whole call. */
  public boolean isCall() {
    return carrier != null;
  }

  /** The JMH options that run only this part. */
  public ChainedOptionsBuilder options() {
    final ChainedOptionsBuilder options =
        new OptionsBuilder().include("^" + Pattern.quote(type.getName() + "." + method) + "$");
    return carrier == null ? options : options.param("carrier", carrier.name());
  }

  /**
   * The result of JMH.
   *
   * @param ns nanoseconds an operation.
   * @param errorNs half of the 99.9 % confidence interval, as JMH computes it.
   * @param bytes that an operation allocates.
   */
  public record Figures(double ns, double errorNs, double bytes) {
    /** Of a run with the profiler that counts bytes. */
    public static Figures of(RunResult run) {
      final Result<?> time = run.getPrimaryResult();
      final Result<?> allocated = run.getSecondaryResults().get(BYTES);
      return new Figures(
          time.getScore(), time.getScoreError(), allocated == null ? 0 : allocated.getScore());
    }
  }

  /** A line for people. */
  public String line(Figures figures) {
    return String.format(
        Locale.ROOT,
        "%-21s %8.1f +- %6.1f %8.1f  %s",
        this,
        figures.ns,
        figures.errorNs,
        figures.bytes,
        text);
  }

  /** A line for scripts. */
  public String result(Figures figures) {
    return String.format(
        Locale.ROOT,
        "RESULT part=%s ns=%.1f error_ns=%.1f bytes=%.1f",
        this,
        figures.ns,
        figures.errorNs,
        figures.bytes);
  }
}
