package dev.ringfetch.index.partition;

import java.util.ArrayList;
import java.util.List;

/**
 * A time that goes on when the test says so, and wake-ups that it runs then. Used by one thread.
 */
final class ManualTime implements TimeSource {
  private final List<Alarm> alarms = new ArrayList<>();
  private long now;

  ManualTime(long now) {
    this.now = now;
  }

  private static final class Alarm {
    private final Runnable task;
    private long at = Long.MAX_VALUE;

    Alarm(Runnable task) {
      this.task = task;
    }
  }

  @Override
  public long nowMs() {
    return now;
  }

  @Override
  public WakeUp wakeUp(Runnable task) {
    final Alarm alarm = new Alarm(task);
    alarms.add(alarm);
    return delayMs -> alarm.at = now + delayMs;
  }

  /** Lets so many milliseconds pass at once; runs the wake-ups that are due then. */
  void pass(long millis) {
    now += millis;
    for (final Alarm alarm : List.copyOf(alarms)) {
      if (alarm.at <= now) {
        alarm.at = Long.MAX_VALUE;
        alarm.task.run();
      }
    }
  }

  /** Lets time pass, millisecond by millisecond. */
  void passSlowly(long millis) {
    for (long i = 0; i < millis; i++) {
      pass(1);
    }
  }
}
