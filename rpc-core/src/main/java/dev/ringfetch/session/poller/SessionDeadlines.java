package dev.ringfetch.session.poller;

import dev.ringfetch.session.owner.SharedField;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of a poller that have a deadline, by the earliest of each. A session without one is
 * not in here, and costs nothing. Where a session's deadline becomes a later one, as with each call
 * that ends in time, its place is put right when its turn comes.
 *
 * <p>{@link #call} may be called from any thread, the other methods by the poller only. Only {@link
 * #add} allocates.
 */
final class SessionDeadlines {
  private static final VarHandle CALLING =
      SharedField.of(MethodHandles.lookup(), "calling", EarliestDeadline.class);

  private final DeadlineQueue<EarliestDeadline> queue = new DeadlineQueue<>();

  @SuppressWarnings("unused") // through CALLING
  private volatile EarliestDeadline calling;

  /**
   * Adds a session.
   *
   * @param sessions how many there are, with this one.
   */
  void add(EarliestDeadline deadline, int sessions) {
    queue.reserve(sessions);
    note(deadline);
  }

  /** Removes a session. */
  void remove(EarliestDeadline deadline) {
    deadline.leave();
    queue.remove(deadline);
  }

  /** Called when a session has published an earlier deadline than the noted one. Any thread. */
  void call(EarliestDeadline deadline) {
    if (deadline.call()) {
      EarliestDeadline before;
      do {
        before = (EarliestDeadline) CALLING.getVolatile(this);
        deadline.nextCalling = before;
      } while (!CALLING.compareAndSet(this, before, deadline));
    }
  }

  /** The earliest deadline of all, or {@link Dated#NO_DEADLINE}. */
  long earliestNs() {
    hear();
    EarliestDeadline first = queue.first();
    while (first != null && first.entry.session.earliestDeadlineNs() != first.deadlineNs) {
      note(first);
      first = queue.first();
    }
    return queue.earliestNs();
  }

  /**
   * The sessions with a deadline that is not after now, linked by {@code nextOverdue}; null when
   * there is none. They stay in the queue until they have another deadline.
   */
  @Nullable EarliestDeadline overdue(long nowNs) {
    hear();
    EarliestDeadline overdue = null;
    EarliestDeadline first;
    while ((first = queue.expire(nowNs)) != null) {
      if (first.entry.session.earliestDeadlineNs() == first.deadlineNs) {
        first.nextOverdue = overdue;
        overdue = first;
      } else {
        note(first);
      }
    }
    for (EarliestDeadline due = overdue; due != null; due = due.nextOverdue) {
      queue.add(due);
    }
    return overdue;
  }

  /** Notes the deadlines of those that have called. */
  private void hear() {
    if ((EarliestDeadline) CALLING.getVolatile(this) == null) {
      return;
    }
    EarliestDeadline deadline = (EarliestDeadline) CALLING.getAndSet(this, (EarliestDeadline) null);
    while (deadline != null) {
      final EarliestDeadline next = deadline.nextCalling;
      deadline.nextCalling = null;
      deadline.heard(); // from here on it may call again
      if (deadline.isServed()) {
        note(deadline);
      }
      deadline = next;
    }
  }

  private void note(EarliestDeadline deadline) {
    queue.remove(deadline);
    deadline.deadlineNs = deadline.note();
    if (deadline.deadlineNs != Dated.NO_DEADLINE) {
      queue.add(deadline);
    }
  }
}
