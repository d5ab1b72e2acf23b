package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.session.SessionContext;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Changes of sessions that come after the end of their poller. */
final class PollerEndTest {
  private static final int TIMEOUT_S = 30;

  @Test
  void changesAfterTheEndRunOneAtATime() throws Exception {
    final Poller poller = new Poller(new HeapFabric(64).serverDoorbell(), new SessionContext());
    poller.close();
    poller.run();
    assertTrue(poller.isFinished());
    final List<String> events = new CopyOnWriteArrayList<>();
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch other = new CountDownLatch(1);
    final Thread first =
        new Thread(
            () ->
                poller.change(
                    () -> {
                      inside.countDown();
                      try {
                        assertTrue(other.await(TIMEOUT_S, TimeUnit.SECONDS));
                      } catch (InterruptedException e) {
                        throw new AssertionError(e);
                      }
                      events.add("first");
                    }));
    first.start();
    assertTrue(inside.await(TIMEOUT_S, TimeUnit.SECONDS));
    poller.change(() -> events.add("second"));
    assertEquals(List.of(), events);
    other.countDown();
    first.join(TimeUnit.SECONDS.toMillis(TIMEOUT_S));
    assertEquals(List.of("first", "second"), events);
    poller.change(() -> events.add("third"));
    assertEquals(List.of("first", "second", "third"), events);
  }
}
