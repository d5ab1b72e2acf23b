package dev.ringfetch.session.bulk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.system.Await;
import dev.ringfetch.system.Warnings;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Arrays;
import java.util.List;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory that the application has in hand, and forgets. */
class LeasesTest {
  private static final int PAGE = BulkRegion.PAGE_LENGTH;
  private static final int LIMIT_S = 30;

  private final Warnings warnings = new Warnings(BulkPool.class);
  private final PoolSteps steps = new PoolSteps();

  @AfterEach
  void close() {
    System.clearProperty(Leases.PROPERTY);
    warnings.close();
  }

  /** One that nothing refers to. */
  private static void forget(BulkPool pool) {
    assertNotNull(pool.allocate(PAGE).lease(new Object()));
  }

  /** What was garbage before is known to be when this returns, and the pool was asked again. */
  private static void collect(BulkPool pool) throws Exception {
    final ReferenceQueue<Object> queue = new ReferenceQueue<>();
    final Reference<Object> later = new PhantomReference<>(new Object(), queue);
    Await.until(
        "the collector",
        LIMIT_S,
        () -> {
          System.gc();
          return queue.poll() == later;
        });
    pool.allocate(0);
  }

  private void awaitLeaks(BulkPool pool, int expected) throws Exception {
    Await.until(
        "the collector",
        LIMIT_S,
        () -> {
          System.gc();
          pool.allocate(0);
          return steps.count(Counter.SESSION_BUFFERS_LEAKED) >= expected;
        });
    assertEquals(expected, steps.count(Counter.SESSION_BUFFERS_LEAKED));
  }

  @Test
  void whatIsForgottenIsCountedAndLoggedOnceASession() throws Exception {
    final BulkPool pool = steps.grown(8 * PAGE);
    forget(pool);
    awaitLeaks(pool, 1);
    assertEquals(1, warnings.records().size());
    final LogRecord warning = warnings.records().get(0);
    assertTrue(warning.getMessage().contains("length=" + PAGE), warning.getMessage());
    assertTrue(warning.getMessage().contains("client session"), warning.getMessage());
    assertTrue(
        warning.getMessage().contains("-D" + Leases.PROPERTY + "=true"), warning.getMessage());
    assertNull(warning.getThrown());
    forget(pool);
    awaitLeaks(pool, 2);
    assertEquals(1, warnings.records().size());
  }

  @Test
  void onRequestEachIsLoggedWithWhereItWasAllocated() throws Exception {
    System.setProperty(Leases.PROPERTY, "true");
    final BulkPool pool = steps.grown(8 * PAGE);
    forget(pool);
    forget(pool);
    awaitLeaks(pool, 2);
    assertEquals(2, warnings.records().size());
    for (final LogRecord warning : warnings.records()) {
      assertTrue(
          Arrays.stream(warning.getThrown().getStackTrace())
              .anyMatch(frame -> frame.getMethodName().equals("forget")),
          "the place");
    }
  }

  /** Somebody may write into a view of it. */
  @Test
  void whatIsForgottenIsGivenToNobodyElse() throws Exception {
    final BulkPool pool = steps.grown(8 * PAGE);
    forget(pool);
    awaitLeaks(pool, 1);
    assertEquals(PAGE, pool.usedLength());
    assertNotNull(pool.allocate(7 * PAGE));
    assertNull(pool.allocate(1));
    assertEquals(1, steps.count(Counter.SESSION_BUFFERS_LENT));
  }

  @Test
  void whatIsInHandIsNoLeakNorIsWhatWasGivenBack() throws Exception {
    final BulkPool pool = steps.grown(8 * PAGE);
    final Lease kept = pool.allocate(PAGE).lease(this);
    for (int i = 0; i < 20; i++) {
      pool.allocate(PAGE).lease(new Object()).close();
    }
    collect(pool);
    assertEquals(1, steps.count(Counter.SESSION_BUFFERS_LENT));
    assertEquals(0, steps.count(Counter.SESSION_BUFFERS_LEAKED));
    assertEquals(PAGE, pool.usedLength());
    kept.close();
    assertEquals(0, steps.count(Counter.SESSION_BUFFERS_LENT));
    assertEquals(0, pool.usedLength());
    assertEquals(List.of(), warnings.messages());
  }

  @Test
  void whatOutlivesItsSessionIsNoLeak() throws Exception {
    final BulkPool pool = steps.grown(8 * PAGE);
    final Lease open = pool.allocate(PAGE).lease(pool);
    forget(pool);
    pool.refuse();
    pool.close();
    assertEquals(0, steps.count(Counter.SESSION_BUFFERS_LENT));
    collect(pool);
    open.close();
    assertEquals(0, steps.count(Counter.SESSION_BUFFERS_LEAKED));
    assertEquals(List.of(), warnings.messages());
  }
}
