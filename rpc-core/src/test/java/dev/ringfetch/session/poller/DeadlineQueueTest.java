package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeadlineQueueTest {
  /** What has a deadline. */
  private static final class Due extends Dated {}

  /** The queue beside what it must be equal to. Times count from an origin that overflows. */
  private static final class Model {
    final DeadlineQueue<Due> queue = new DeadlineQueue<>();
    final TreeMap<Long, Set<Due>> model = new TreeMap<>();
    final List<Due> out = new ArrayList<>();
    final List<Due> in = new ArrayList<>();
    final long origin;
    final String what;

    Model(long origin, String what) {
      this.origin = origin;
      this.what = what;
      for (int i = 0; i < 300; i++) {
        out.add(new Due());
      }
    }

    void add(int which, long at) {
      Due stream = out.remove(which);
      stream.deadlineNs = origin + at;
      in.add(stream);
      model.computeIfAbsent(at, key -> new HashSet<>()).add(stream);
      queue.add(stream);
    }

    void forget(Due stream) {
      long at = stream.deadlineNs - origin;
      Set<Due> same = model.get(at);
      assertTrue(same != null && same.remove(stream), what);
      if (same.isEmpty()) {
        model.remove(at);
      }
      in.remove(stream);
      out.add(stream);
    }

    void check() {
      long earliest = model.isEmpty() ? Dated.NO_DEADLINE : origin + model.firstKey();
      assertEquals(earliest, queue.earliestNs(), what);
    }
  }

  @Test
  void aDeadlineBeyondTheOverflowIsNotDueBeforeIt() {
    DeadlineQueue<Due> queue = new DeadlineQueue<>();
    Due due = new Due();
    due.deadlineNs = Long.MAX_VALUE + 5;
    queue.add(due);
    assertNull(queue.expire(Long.MAX_VALUE - 5));
    assertEquals(due, queue.expire(due.deadlineNs));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - 5000, -5000, 1L << 62})
  void isATreeMap(long origin) {
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    Model model = new Model(origin, "seed=" + seed + " origin=" + origin);
    long now = 0;
    for (int step = 0; step < 50_000; step++) {
      int action = random.nextInt(step / 5000 % 2 == 0 ? 5 : 9);
      if (action < 4 && !model.out.isEmpty()) {
        model.add(random.nextInt(model.out.size()), now + random.nextInt(100));
      } else if (action < 7 && !model.in.isEmpty()) {
        Due stream = model.in.get(random.nextInt(model.in.size()));
        model.queue.remove(stream);
        assertEquals(DeadlineQueue.ABSENT, stream.deadlineIndex, model.what);
        model.forget(stream);
        model.queue.remove(stream); // without effect
      } else {
        now += random.nextInt(20);
        Due expired = model.queue.expire(origin + now);
        if (expired == null) {
          assertTrue(model.model.isEmpty() || model.model.firstKey() > now, model.what);
        } else {
          assertEquals(model.model.firstKey(), expired.deadlineNs - origin, model.what);
          assertTrue(expired.deadlineNs - (origin + now) <= 0, model.what);
          model.forget(expired);
        }
      }
      model.check();
    }
  }

  @Test
  void expiresAtTheNanosecond() {
    DeadlineQueue<Due> queue = new DeadlineQueue<>();
    assertNull(queue.expire(Long.MAX_VALUE));
    Due stream = new Due();
    stream.deadlineNs = 100;
    queue.add(stream);
    assertNull(queue.expire(99));
    assertEquals(stream, queue.expire(100));
    assertNull(queue.expire(100));
    assertEquals(Dated.NO_DEADLINE, queue.earliestNs());
  }

  @Test
  void streamGoesBackIn() {
    DeadlineQueue<Due> queue = new DeadlineQueue<>();
    for (int i = 0; i < 40; i++) {
      Due stream = new Due();
      stream.deadlineNs = 1000L - i;
      queue.add(stream);
    }
    Due first = queue.expire(5000);
    assertNotNull(first);
    assertEquals(961, first.deadlineNs);
    first.deadlineNs = 2000;
    queue.add(first);
    long last = 0;
    int count = 0;
    for (Due next = queue.expire(5000); next != null; next = queue.expire(5000)) {
      assertFalse(next.deadlineNs < last);
      last = next.deadlineNs;
      count++;
    }
    assertEquals(40, count);
    assertEquals(2000, last);
  }
}
