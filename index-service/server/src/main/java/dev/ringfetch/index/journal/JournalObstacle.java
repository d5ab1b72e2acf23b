package dev.ringfetch.index.journal;

import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A reason for which a journal refuses puts, or soon will, with the time since when. Its listener
 * is called when there is one, and with null when it has ended.
 *
 * <p>One thread changes it; any thread reads it.
 */
final class JournalObstacle {
  private final LongSupplier clock;
  private final Consumer<IOException> listener;
  private volatile @Nullable IOException reason; // null: there is none
  private volatile long sinceNs;

  JournalObstacle(LongSupplier clock, Consumer<IOException> listener) {
    this.clock = clock;
    this.listener = listener;
  }

  /** Sets the reason, the same or another one; null: there is none any more. */
  void set(@Nullable IOException next) {
    final boolean isNews = (reason == null) != (next == null);
    if (isNews && next != null) {
      sinceNs = clock.getAsLong();
    }
    reason = next;
    if (isNews) {
      listener.accept(next);
    }
  }

  @Nullable IOException reason() {
    return reason;
  }

  /** Age in nanoseconds; 0 if there is none. */
  long ageNs() {
    final long since = sinceNs;
    return reason == null ? 0 : Math.max(0, clock.getAsLong() - since);
  }
}
