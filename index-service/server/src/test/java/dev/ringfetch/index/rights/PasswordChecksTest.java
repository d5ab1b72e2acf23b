package dev.ringfetch.index.rights;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many checks of passwords wait. */
@Timeout(60)
final class PasswordChecksTest {
  private final PasswordChecks checks = new PasswordChecks();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch done = new CountDownLatch(2 + PasswordChecks.MAX_WAITING_OF_HOST);

  /** Whether nobody waits any more: asked on the thread of the checks, which it holds up. */
  private boolean isOver() {
    begun.countDown();
    try {
      assertTrue(held.await(60, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  private boolean check(String host) {
    return checks.check(
        null, new Credentials("ann", "a guess"), host, this::isOver, done::countDown);
  }

  @Test
  void guessesOfOneHostLeaveRoomForOthers() throws Exception {
    assertTrue(check("10.0.0.1"));
    assertTrue(begun.await(60, TimeUnit.SECONDS)); // it waits no more
    int waiting = 0;
    while (check("10.0.0.1")) {
      waiting++;
    }
    assertEquals(PasswordChecks.MAX_WAITING_OF_HOST, waiting);
    assertFalse(check("10.0.0.1"));
    assertTrue(check("10.0.0.2"));
    held.countDown();
    assertTrue(done.await(60, TimeUnit.SECONDS));
    while (!check("10.0.0.1")) { // the last of them has left its place
      Thread.sleep(1);
    }
  }
}
