package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.Sizes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Nothing is stored or rung that nobody needs: a store takes the peer's line away, a ring is a
 * system call.
 */
@Timeout(60)
class SessionTrafficTest {
  private static final Sizes TWO_SLOTS = new Sizes(128, 64, 8, 1000);
  private static final Sizes SIXTEEN_SLOTS = new Sizes(1024, 64, 64, 1000);

  private static final class CountingRegion extends DirectRegion {
    int stores;
    int verifications;

    CountingRegion(int length) {
      super(length);
    }

    @Override
    public void verify() {
      verifications++;
      super.verify();
    }

    @Override
    public void putLongRelease(int index, long value) {
      stores++;
      super.putLongRelease(index, value);
    }

    @Override
    public void putIntRelease(int index, int value) {
      stores++;
      super.putIntRelease(index, value);
    }
  }

  private CountingRegion region;
  private SessionSteps steps;

  private void start(Sizes sizes) {
    region = new CountingRegion(ArenaDescriptor.length(sizes.ringLength(), sizes.ringLength()));
    steps = new SessionSteps(sizes, region);
  }

  private int serverRings() {
    return steps.fabric.server().ringsSent();
  }

  @Test
  void pollThatFindsNothingStoresNothing() {
    start(TWO_SLOTS);
    steps.send(bytes(1, 1));
    steps.answerAll();
    for (Session session : new Session[] {steps.client, steps.server}) {
      assertTrue(session.driver.tryAcquire());
      session.driver.disarm();
      final int stores = region.stores;
      for (int i = 0; i < 10; i++) {
        session.driver.disarm();
        assertEquals(0, session.work(true));
      }
      assertEquals(stores, region.stores);
      session.driver.releaseAndTell();
    }
  }

  @Test
  void blockedSideSaysSoOnce() {
    start(TWO_SLOTS);
    assertTrue(steps.client.driver.tryAcquire());
    for (int i = 0; i < 3; i++) {
      steps.send(bytes(1, i));
    }
    steps.client.work(false);
    assertTrue(steps.client.outbox.isBlocked());
    final int stores = region.stores;
    for (int i = 0; i < 10; i++) {
      assertEquals(0, steps.client.work(true));
    }
    assertEquals(stores, region.stores);
    steps.client.driver.releaseAndTell();
  }

  @Test
  void sideThatPollsAgainIsNotRung() {
    start(SIXTEEN_SLOTS);
    steps.send(bytes(1, 1)); // leaves armed
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.driver.disarm();
    final int rings = serverRings();
    steps.server.driver.service(false);
    steps.request().echo();
    assertEquals(rings, serverRings());
    assertTrue(steps.client.work(true) > 0);
    steps.client.driver.releaseAndTell();
  }

  @Test
  void creditRingsNobodyWhoHasEnough() {
    start(SIXTEEN_SLOTS);
    for (int i = 0; i < 4; i++) {
      steps.send(bytes(1, i)); // leaves armed, so the client sleeps
    }
    final int rings = serverRings();
    steps.server.driver.service(false);
    assertEquals(0, steps.server.ring.untold(), "told");
    assertEquals(rings, serverRings());
  }

  @Test
  void creditRingsNobodyWhoPolls() {
    start(TWO_SLOTS);
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.driver.disarm();
    for (int i = 0; i < 3; i++) {
      steps.send(bytes(1, i));
    }
    steps.client.work(false);
    assertTrue(steps.client.outbox.isBlocked());
    final int rings = serverRings();
    steps.server.driver.service(false);
    assertEquals(0, steps.server.ring.untold(), "told");
    assertEquals(rings, serverRings());
    assertEquals(1, steps.client.work(false), "there is room");
    steps.client.driver.releaseAndTell();
  }

  @Test
  void sleeperThatWaitsForCreditIsRungOnce() {
    start(TWO_SLOTS);
    Call last = null;
    for (int i = 0; i < 3; i++) {
      last = steps.send(bytes(1, i));
    }
    assertTrue(steps.client.outbox.isBlocked() && steps.client.inbox.isArmed());
    final int rings = serverRings();
    for (int i = 0; i < 5; i++) {
      steps.server.driver.service(false);
    }
    assertEquals(rings + 1, serverRings());
    assertFalse(last.stream.outboundBegun);
    steps.stepClient();
    assertTrue(last.stream.outboundBegun);
  }

  /** What fills the longest frame to the last byte goes in that frame. */
  @Test
  void longestUnitOfOneFrameTakesOne() {
    start(new Sizes(1024, 128, 8, 1000));
    for (int length : new int[] {127 - FrameDescriptor.OVERHEAD, 128 - FrameDescriptor.OVERHEAD}) {
      long before = steps.client.writePosition();
      steps.send(bytes(length, 1));
      assertEquals(before + 2, steps.client.writePosition(), "slots for length=" + length);
      steps.answerAll();
    }
    long before = steps.client.writePosition();
    steps.send(bytes(129 - FrameDescriptor.OVERHEAD, 1));
    assertEquals(before + 3, steps.client.writePosition(), "a second frame");
    steps.answerAll();
  }

  /** Also when the stream's unit was only half out. */
  @Test
  void cancelIsSaidOnce() {
    start(SIXTEEN_SLOTS);
    Call call = steps.send(bytes(900, 1));
    assertFalse(call.stream.outbound().length() == call.stream.outboundSent, "all is out");
    call.cancel();
    assertTrue(steps.server.driver.tryAcquire());
    steps.server.work(true); // makes room, and tells nobody
    steps.server.work(true);
    long before = steps.client.writePosition();
    steps.stepClient();
    assertEquals(before + 1, steps.client.writePosition(), "one CLOSE");
    steps.server.driver.releaseAndTell();
    steps.settle();
  }

  @Test
  void framesFitTheirRing() {
    start(new Sizes(256, 4096, 8, 10_000));
    Call call = steps.send(bytes(1_000, 1));
    steps.answerAll();
    assertArrayEquals(bytes(1_000, 2), call.response);
  }

  @Test
  void noticeRingsForItselfOnly() {
    start(SIXTEEN_SLOTS);
    steps.send(bytes(1, 1));
    steps.settle();
    steps.server.drain();
    steps.settle();
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.driver.disarm();
    int rings = serverRings();
    steps.request().echo();
    assertEquals(rings, serverRings(), "the client polls");
    steps.client.driver.leave();
    steps.settle();
  }

  @Test
  void whoIsArmedSaysSoOnce() {
    start(SIXTEEN_SLOTS);
    steps.send(bytes(1, 1));
    int stores = region.stores;
    steps.client.driver.drive();
    steps.client.driver.drive();
    assertEquals(stores, region.stores);
  }

  /** Among others a session is verified before it is changed, and only then. */
  @Test
  void sessionWithoutWorkIsNotVerified() {
    start(SIXTEEN_SLOTS);
    steps.server.driver.service(true); // disarms it
    int before = region.verifications;
    steps.server.driver.service(true);
    assertEquals(before, region.verifications);
    steps.send(bytes(1, 1));
    steps.server.driver.service(true);
    assertTrue(region.verifications > before);
    steps.server.end("test");
    before = region.verifications;
    steps.server.driver.service(true);
    assertEquals(before, region.verifications, "it is out of that memory");
  }

  /** Its memory may be another's by then, or gone. */
  @Test
  void sessionThatHasEndedTouchesNothing() {
    start(SIXTEEN_SLOTS);
    for (Session session : new Session[] {steps.client, steps.server}) {
      assertTrue(session.driver.tryAcquire());
      session.driver.disarm();
      session.driver.releaseAndTell();
      session.end("test");
    }
    int stores = region.stores;
    steps.server.retire();
    steps.client.retire();
    steps.server.driver.drive();
    steps.client.driver.drive();
    assertEquals(stores, region.stores);
  }
}
