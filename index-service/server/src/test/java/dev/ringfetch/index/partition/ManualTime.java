package dev.ringfetch.index.partition;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Clocks that go on when the test says so, and wake-ups that it runs then. Used by one thread. */
final class ManualTime implements TimeSource {
  private final List<Alarm> alarms = new ArrayList<>();
  private long wallMs;
  private long runningMs = -500_000; // counts from anywhere

  ManualTime(long wallMs) {
    this.wallMs = wallMs;
  }

  private static final class Alarm {
    private final Runnable task;
    private long at = Long.MAX_VALUE;

    Alarm(Runnable task) {
      this.task = task;
    }
  }

  @Override
  public long wallMs() {
    return wallMs;
  }

  @Override
  public long runningNs() {
    return TimeUnit.MILLISECONDS.toNanos(runningMs);
  }

  @Override
  public WakeUp wakeUp(Runnable task) {
    final Alarm alarm = new Alarm(task);
    alarms.add(alarm);
    return delayMs -> alarm.at = runningMs + delayMs;
  }

  /** Lets so many milliseconds pass at once; runs the wake-ups that are due then. */
  void pass(long millis) {
    wallMs += millis;
    runningMs += millis;
    for (final Alarm alarm : List.copyOf(alarms)) {
      if (alarm.at <= runningMs) {
        alarm.at = Long.MAX_VALUE;
        alarm.task.run();
      }
    }
  }

  /** Sets the wall clock forward, or back, as the host's owner may. */
  void set(long millis) {
    wallMs += millis;
  }

  /** Lets time pass, millisecond by millisecond. */
  void passSlowly(long millis) {
    for (long i = 0; i < millis; i++) {
      pass(1);
    }
  }
}
