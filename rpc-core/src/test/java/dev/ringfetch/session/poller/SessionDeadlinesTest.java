package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.Stream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which session comes next, whatever their owners publish meanwhile. */
@Timeout(60)
class SessionDeadlinesTest {
  private final SessionDeadlines deadlines = new SessionDeadlines();

  /** How often a session was looked at. */
  private int looks;

  private Runnable onLook = () -> {};

  private EarliestDeadline session() {
    return new IdleSession() {
      @Override
      public long earliestDeadlineNs() {
        final long seen = super.earliestDeadlineNs();
        looks++;
        onLook.run();
        return seen;
      }
    }.entry.deadline;
  }

  private EarliestDeadline served(int sessions) {
    final EarliestDeadline made = session();
    deadlines.add(made, sessions);
    return made;
  }

  private void publish(EarliestDeadline deadline, long ns) {
    if (deadline.publish(ns)) {
      deadlines.call(deadline);
    }
  }

  private Set<EarliestDeadline> overdue(long nowNs) {
    final Set<EarliestDeadline> all = new HashSet<>();
    EarliestDeadline due = deadlines.overdue(nowNs);
    while (due != null) {
      assertTrue(all.add(due));
      due = due.nextOverdue;
    }
    return all;
  }

  @Test
  void isAScanOverAllSessions() {
    long seed = Long.getLong("ringfetch.seed", 1);
    String what = "seed=" + seed;
    Random random = new Random(seed);
    List<EarliestDeadline> in = new ArrayList<>();
    List<EarliestDeadline> out = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      out.add(session());
    }
    for (int step = 0; step < 50_000; step++) {
      int action = random.nextInt(20);
      if (action == 0 && !out.isEmpty()) {
        EarliestDeadline comes = out.remove(random.nextInt(out.size()));
        in.add(comes);
        deadlines.add(comes, in.size());
      } else if (action == 1 && !in.isEmpty() && random.nextInt(3) == 0) {
        EarliestDeadline goes = in.remove(random.nextInt(in.size()));
        out.add(goes);
        deadlines.remove(goes);
      } else if (action < 15) {
        List<EarliestDeadline> from = in.isEmpty() || random.nextInt(10) == 0 ? out : in;
        if (!from.isEmpty()) {
          publish(
              from.get(random.nextInt(from.size())),
              random.nextInt(4) == 0 ? Stream.NO_DEADLINE : step + random.nextInt(1000));
        }
      } else if (action < 18) {
        long earliest = Stream.NO_DEADLINE;
        for (EarliestDeadline deadline : in) {
          earliest = Math.min(earliest, deadline.publishedNs());
        }
        assertEquals(earliest, deadlines.earliestNs(), what);
      } else {
        long now = step;
        Set<EarliestDeadline> expected = new HashSet<>();
        for (EarliestDeadline deadline : in) {
          if (deadline.publishedNs() <= now) {
            expected.add(deadline);
          }
        }
        assertEquals(expected, overdue(now), what);
        assertEquals(expected, overdue(now), "they stay: " + what);
      }
    }
  }

  @Test
  void whoHasNoDeadlineIsNotLookedAt() {
    for (int i = 1; i <= 1000; i++) {
      served(i);
    }
    EarliestDeadline busy = served(1001);
    publish(busy, 100);
    looks = 0;
    assertEquals(100, deadlines.earliestNs());
    assertEquals(Set.of(busy), overdue(100));
    publish(busy, Stream.NO_DEADLINE);
    assertNull(deadlines.overdue(100));
    assertEquals(Stream.NO_DEADLINE, deadlines.earliestNs());
    assertTrue(looks < 10, "looks=" + looks);
  }

  /** Most calls end in time, and the next one has a later deadline: nobody is called for that. */
  @Test
  void laterDeadlineCallsNobody() {
    EarliestDeadline session = served(1);
    assertTrue(session.publish(100));
    deadlines.call(session);
    assertEquals(100, deadlines.earliestNs());
    looks = 0;
    for (int call = 1; call < 1000; call++) {
      assertEquals(false, session.publish(Stream.NO_DEADLINE));
      assertEquals(false, session.publish(100 + call));
    }
    assertEquals(0, looks);
    assertNull(deadlines.overdue(500));
    assertEquals(1099, deadlines.earliestNs());
  }

  /** A session that has left, with a call of its owner's on the way. */
  @Test
  void whoHasLeftIsHeardNoMore() {
    EarliestDeadline session = served(1);
    publish(session, 100);
    deadlines.remove(session);
    assertEquals(Stream.NO_DEADLINE, deadlines.earliestNs());
    assertNull(deadlines.overdue(100));
  }

  /** An owner publishes an earlier one while the poller notes a later one. */
  @Test
  void earlierDeadlineThatComesWhileALaterOneIsNotedIsNotLost() {
    publish(served(1), 700); // hides the other when it is later
    EarliestDeadline session = served(2);
    publish(session, 100);
    assertEquals(100, deadlines.earliestNs());
    for (int look = 1; look < 6; look++) {
      publish(session, 100);
      assertEquals(100, deadlines.earliestNs());
      publish(session, 1000);
      int[] left = {look};
      onLook =
          () -> {
            if (--left[0] == 0) {
              publish(session, 500);
            }
          };
      long first = deadlines.earliestNs();
      onLook = () -> {};
      assertTrue(first == 500 || first == 700, "earliest=" + first + " look=" + look);
      assertEquals(left[0] > 0 ? 700 : 500, deadlines.earliestNs(), "look=" + look);
    }
  }

  /** It calls again while it is heard. */
  @Test
  void earlierDeadlineThatComesWhileTheOneBeforeIsHeardIsNotLost() {
    publish(served(1), 700); // first: it hides the other
    for (int look = 1; look < 5; look++) {
      EarliestDeadline session = served(2);
      publish(session, 1000);
      int[] left = {look};
      onLook =
          () -> {
            if (--left[0] == 0) {
              publish(session, 500);
            }
          };
      deadlines.earliestNs();
      onLook = () -> {};
      assertEquals(left[0] > 0 ? 700 : 500, deadlines.earliestNs(), "look=" + look);
      deadlines.remove(session);
    }
  }

  /** Threads publish at the same time while the poller reads: in the end it knows the earliest. */
  @Test
  void noDeadlineIsLostBetweenThreads() throws Exception {
    final long seed = Long.getLong("ringfetch.seed", 1);
    final int phases = 3_000;
    final int owners = 2;
    final int sessions = 4; // of each
    List<EarliestDeadline> all = new ArrayList<>();
    for (int i = 0; i < owners * sessions; i++) {
      EarliestDeadline made = new IdleSession().entry.deadline;
      deadlines.add(made, i + 1);
      all.add(made);
    }
    CyclicBarrier barrier = new CyclicBarrier(owners + 1);
    AtomicBoolean[] done = {new AtomicBoolean(), new AtomicBoolean()};
    ExecutorService threads = Executors.newFixedThreadPool(owners);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int owner = 0; owner < owners; owner++) {
        Random random = new Random(seed + owner);
        List<EarliestDeadline> own = all.subList(owner * sessions, (owner + 1) * sessions);
        AtomicBoolean over = done[owner];
        running.add(
            threads.submit(
                () -> {
                  for (int phase = 0; phase < phases; phase++) {
                    for (int i = 0; i < 30; i++) {
                      publish(
                          own.get(random.nextInt(sessions)),
                          random.nextInt(3) == 0 ? Stream.NO_DEADLINE : random.nextInt(1000));
                    }
                    over.set(true);
                    barrier.await(30, TimeUnit.SECONDS);
                    barrier.await(30, TimeUnit.SECONDS);
                  }
                  return null;
                }));
      }
      for (int phase = 0; phase < phases; phase++) {
        while (!done[0].get() || !done[1].get()) {
          deadlines.earliestNs();
          deadlines.overdue(500);
        }
        barrier.await(30, TimeUnit.SECONDS);
        long earliest = Stream.NO_DEADLINE;
        for (EarliestDeadline deadline : all) {
          earliest = Math.min(earliest, deadline.publishedNs());
        }
        assertEquals(earliest, deadlines.earliestNs(), "seed=" + seed + " phase=" + phase);
        done[0].set(false);
        done[1].set(false);
        barrier.await(30, TimeUnit.SECONDS);
      }
      for (Future<?> one : running) {
        one.get(30, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
