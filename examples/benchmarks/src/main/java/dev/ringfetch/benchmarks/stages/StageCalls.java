package dev.ringfetch.benchmarks.stages;

import dev.ringfetch.examples.load.Lookup;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.index.v1.IndexGrpc;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * Calls of {@code Index.Get} by blocking stub in {@link OneThread}, split at each stage by turns.
 * For one thread.
 */
final class StageCalls implements AutoCloseable {
  private static final int VALUE_LENGTH = 32;
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int DIGITS = 3;
  private static final int IDLE_TIMES = 5_000;
  private static final int IDLE_ROUNDS = 100;
  private static final Stage[] STAGES = Stage.values();

  private final Split split;
  private final OneThread thread;
  private final Lookup lookup;
  private final Histogram nothing = histogram();
  private final Map<Stage, Histogram> splits = new EnumMap<>(Stage.class);

  StageCalls() throws IOException {
    this(new Split());
  }

  StageCalls(Split split) throws IOException {
    this.split = split;
    this.thread = new OneThread(split);
    this.lookup = new Lookup(IndexGrpc.newBlockingStub(thread.channel()), VALUE_LENGTH);
    for (final Stage stage : STAGES) {
      splits.put(stage, histogram());
    }
    lookup.check();
  }

  private static Histogram histogram() {
    return new Histogram(LONGEST_NS, DIGITS);
  }

  /** Nanoseconds, of the calls that are made in some time: see {@link #usual}. */
  StageFigures round(long millis) {
    nothing.reset();
    splits.values().forEach(Histogram::reset);
    final long startNs = System.nanoTime();
    while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(millis)) {
      nothing.recordValue(call(null));
      for (final Stage stage : STAGES) {
        splits.get(stage).recordValue(Math.min(call(stage), LONGEST_NS));
      }
    }
    return StageFigures.of(usual(nothing), stage -> usual(splits.get(stage)));
  }

  /**
   * The mean of the shorter nine tenths: a clock may go in steps as long as a stage, which a median
   * would show and a mean does not, and a tenth is enough for what interrupts calls.
   */
  static double usual(Histogram splits) {
    final long most = splits.getTotalCount() - splits.getTotalCount() / 10;
    long count = 0;
    double sum = 0;
    for (final HistogramIterationValue value : splits.recordedValues()) {
      final long taken = Math.min(value.getCountAtValueIteratedTo(), most - count);
      count += taken;
      sum += (double) taken * value.getValueIteratedTo();
    }
    return sum / most;
  }

  /** Bytes, means of some calls for each stage. */
  StageFigures bytes(int calls) {
    final Map<Stage, Double> sums = new EnumMap<>(Stage.class);
    double before = 0;
    split.ofBytes(true);
    try {
      for (int i = 0; i < calls; i++) {
        before += call(null);
        for (final Stage stage : STAGES) {
          sums.merge(stage, (double) call(stage), Double::sum);
        }
      }
    } finally {
      split.ofBytes(false);
    }
    final double nothing = before / calls;
    return StageFigures.of(nothing, stage -> sums.get(stage) / calls);
  }

  /** One call, split here, or, of null, at its beginning. */
  long call(Stage until) {
    split.begin(until);
    lookup.run();
    split.ended(Stage.complete);
    return split.length();
  }

  /** What a round of polling takes that finds nothing, in nanoseconds. */
  Answer idle() {
    return new Answer().with("server", serverIdleNs()).with("client", callerIdleNs());
  }

  private double serverIdleNs() {
    return timeNs(
            () -> {
              for (int i = 0; i < IDLE_ROUNDS; i++) {
                thread.serve();
              }
            })
        / IDLE_ROUNDS;
  }

  private double callerIdleNs() {
    final double without = timeNs(lookup);
    thread.idleRounds(IDLE_ROUNDS);
    try {
      return (timeNs(lookup) - without) / IDLE_ROUNDS;
    } finally {
      thread.idleRounds(0);
    }
  }

  private static double timeNs(Runnable task) {
    final Histogram times = histogram();
    for (int i = 0; i < IDLE_TIMES; i++) {
      final long startNs = System.nanoTime();
      task.run();
      times.recordValue(Math.min(System.nanoTime() - startNs, LONGEST_NS));
    }
    return usual(times);
  }

  @Override
  public void close() {
    thread.close();
  }
}
