package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.session.Session;
import dev.ringfetch.session.SessionAccess;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.SessionSteps;
import dev.ringfetch.session.SessionSteps.Sizes;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of the wait for the end of a poller: it includes all threads of the poller. */
@Timeout(60)
class PollerEndTest {
  private static final long TIMEOUT_MS = 30_000;

  private final AtomicLong nowNs = new AtomicLong();
  private final Map<String, Thread> threads = new ConcurrentHashMap<>();
  private final Poller poller =
      new Poller(
          new ParkedDoorbell(), new SessionContext().clock(this::clock).spinNs(0).inlinePerMs(1));
  private final FutureTask<Void> waits =
      new FutureTask<>(
          () -> {
            poller.awaitEnd(TIMEOUT_MS);
            return null;
          });
  private final Thread waiter = new Thread(waits, "waiter");

  /** A thread of a poller that has ended stays until it is waited for, or nobody does. */
  private long clock() {
    final Thread thread = Thread.currentThread();
    threads.put(thread.getName(), thread);
    while (poller.isFinished() && !isAwaited(thread) && !waits.isDone()) {
      Thread.onSpinWait();
    }
    return nowNs.get();
  }

  private boolean isAwaited(Thread thread) {
    final ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(waiter.getId());
    return info != null
        && info.getLockInfo() != null
        && info.getLockInfo().getIdentityHashCode() == System.identityHashCode(thread);
  }

  private void end() throws Exception {
    poller.close();
    waiter.start();
    waits.get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
    for (final Thread thread : threads.values()) {
      assertTrue(!thread.isAlive(), thread.getName());
    }
  }

  @Test
  void threadThatServedIsWaitedFor() throws Exception {
    final Thread thread = new Thread(poller, "poller");
    threads.put("poller", thread);
    thread.start();
    end();
    assertEquals(1, threads.size());
  }

  @Test
  void threadThatStandsByIsWaitedFor() throws Exception {
    final Session session = new SessionSteps(Sizes.ROOMY).server;
    new Thread(poller, "poller").start();
    poller.change(() -> assertTrue(poller.offer(SessionAccess.entry(session), new Nothing())));
    Thread standby;
    while ((standby = threads.get("poller-1")) == null
        || standby.getState() != Thread.State.WAITING) {
      nowNs.addAndGet(InlinePatience.WINDOW_NS); // in which little happens: it rests
      Thread.onSpinWait();
    }
    end();
  }

  private static final class Nothing extends LinkedTask {
    @Override
    public void runInline() {}

    @Override
    public void handOver() {}

    @Override
    public void ranInline(long durationNs) {}

    @Override
    public void overran(boolean waits) {}
  }

  @Test
  void threadThatServesDoesNotWaitForItself() throws InterruptedException {
    assertTrue(poller.begin());
    Thread.currentThread().interrupt(); // it would not wait
    poller.awaitEnd(TIMEOUT_MS);
    assertTrue(Thread.interrupted());
  }

  @Test
  void pollerThatDoesNotEndIsWaitedForNoLonger() throws InterruptedException {
    new Poller(new HeapDoorbell(), new SessionContext()).awaitEnd(1);
    poller.awaitEnd(0);
  }
}
