package dev.ringfetch.index.cli;

import java.time.Duration;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;

/** The progress bar of a command, if the output is a terminal: part, rate, time. */
final class LoadProgress implements AutoCloseable {
  private static final int UPDATE_MS = 200;
  private static final int MEGABYTE = 1 << 20;

  private final ProgressBar bar; // null if nothing is shown

  private LoadProgress(ProgressBar bar) {
    this.bar = bar;
  }

  /** Shows nothing. */
  static LoadProgress none() {
    return new LoadProgress(null);
  }

  /** Shows bytes of a file; its size is -1 if unknown. */
  static LoadProgress ofBytes(String task, long size, Stdio stdio) {
    return of(builder(task, size, stdio).setUnit(" MiB", MEGABYTE));
  }

  /** Shows entries out of an approximate total. */
  static LoadProgress ofEntries(String task, long entries, Stdio stdio) {
    return of(builder(task, entries, stdio).setUnit(" entries", 1));
  }

  private static ProgressBarBuilder builder(String task, long max, Stdio stdio) {
    return new ProgressBarBuilder()
        .setTaskName(task)
        .setInitialMax(max)
        .setUpdateIntervalMillis(UPDATE_MS)
        .setMaxRenderedLength(stdio.columns() - 1)
        .setConsumer(new ConsoleProgressBarConsumer(stdio.err(), stdio.columns() - 1))
        .startsFrom(0, Duration.ZERO)
        .showSpeed();
  }

  private static LoadProgress of(ProgressBarBuilder builder) {
    return new LoadProgress(builder.build());
  }

  void at(long position, String text) {
    if (bar != null) {
      bar.stepTo(position);
      bar.setExtraMessage(" " + text);
    }
  }

  /** Draws the last state, and ends the line. Idempotent. */
  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
