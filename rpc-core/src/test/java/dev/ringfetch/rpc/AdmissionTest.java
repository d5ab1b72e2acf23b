package dev.ringfetch.rpc;

import static dev.ringfetch.rpc.Admission.ABANDONED_COST_NS;
import static dev.ringfetch.rpc.Admission.BURST;
import static dev.ringfetch.rpc.Admission.CALL_COST_NS;
import static dev.ringfetch.rpc.Admission.FAULT_COST_NS;
import static dev.ringfetch.rpc.Admission.INTERVAL_NS;
import static dev.ringfetch.rpc.Admission.MAX_DELAY_NS;
import static dev.ringfetch.rpc.Admission.MAX_SILENT;
import static dev.ringfetch.rpc.Admission.REFUSED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AdmissionTest {
  private static final Object HOST = Admission.hostOf(new InetSocketAddress("10.0.0.1", 1));
  private static final Object OTHER = Admission.hostOf(new InetSocketAddress("10.0.0.2", 1));

  private long nowNs = Long.MAX_VALUE - 1_000; // it wraps, as a nanosecond clock may
  private final Admission admission = new Admission(() -> nowNs);

  private void openBurst(Object host) {
    for (int i = 0; i <= BURST; i++) {
      assertEquals(0, admission.delayNs(host), "session " + i);
    }
  }

  @Test
  void burstIsServedAtOnceAndTheRestInTurn() {
    openBurst(HOST);
    assertEquals(INTERVAL_NS, admission.delayNs(HOST));
    assertEquals(2 * INTERVAL_NS, admission.delayNs(HOST));
    nowNs += INTERVAL_NS;
    assertEquals(2 * INTERVAL_NS, admission.delayNs(HOST));
  }

  @Test
  void whoWouldWaitTooLongIsRefusedAndTakesNobodysTurn() {
    openBurst(HOST);
    long delayNs = 0;
    while (delayNs + INTERVAL_NS <= MAX_DELAY_NS) {
      delayNs += INTERVAL_NS;
      assertEquals(delayNs, admission.delayNs(HOST));
    }
    assertEquals(REFUSED, admission.delayNs(HOST));
    assertEquals(REFUSED, admission.delayNs(HOST));
    nowNs += INTERVAL_NS;
    assertEquals(delayNs, admission.delayNs(HOST));
  }

  @Test
  void hostsDoNotWaitForEachOther() {
    openBurst(HOST);
    assertEquals(INTERVAL_NS, admission.delayNs(HOST));
    openBurst(OTHER);
  }

  @Test
  void portMakesNoOtherHost() {
    assertEquals(HOST, Admission.hostOf(new InetSocketAddress("10.0.0.1", 2)));
    assertNotEquals(HOST, OTHER);
    assertEquals(Admission.hostOf(null), Admission.hostOf(new java.net.SocketAddress() {}));
  }

  @Test
  void faultsUseUpTheBurst() {
    for (long spent = 0; spent <= BURST * INTERVAL_NS; spent += FAULT_COST_NS + INTERVAL_NS) {
      assertEquals(0, admission.delayNs(HOST));
      admission.onEnded(HOST, true, 0);
    }
    assertNotEquals(0, admission.delayNs(HOST));
    assertEquals(0, admission.delayNs(OTHER));
  }

  @Test
  void callsForNothingAreCharged() {
    openBurst(HOST);
    admission.onEnded(HOST, false, 1_000);
    assertEquals(INTERVAL_NS + 1_000 * CALL_COST_NS, admission.delayNs(HOST));
  }

  @Test
  void whatAHostOwesIsBoundedAndForgotten() {
    for (int i = 0; i < 1_000; i++) {
      admission.onEnded(HOST, true, 100_000);
    }
    assertEquals(MAX_DELAY_NS, admission.delayNs(HOST));
    nowNs += MAX_DELAY_NS + (BURST + 1) * INTERVAL_NS;
    openBurst(HOST);
    assertEquals(INTERVAL_NS, admission.delayNs(HOST));
  }

  @Test
  void endInOrderCostsNothing() {
    for (int i = 0; i < 1_000; i++) {
      admission.onEnded(HOST, false, 0);
    }
    openBurst(HOST);
  }

  @Test
  void hostsThatDidNotComeForLongAreForgotten() {
    for (int i = 0; i < 10_000; i++) {
      admission.delayNs(i);
      nowNs += INTERVAL_NS;
    }
    assertEquals(0, admission.delayNs(HOST));
    assertTrue(admission.hosts() <= 1_024, "kept: " + admission.hosts());
  }

  /**
   * Three clients on a host open and close six channels a second between them, for five minutes:
   * each lives for five seconds, asks for longer rings once, and leaves calls behind.
   */
  @Test
  void clientsThatComeAndGoInOrderGetTheirSessionsAtOnce() {
    final long lifeNs = TimeUnit.SECONDS.toNanos(5);
    final Queue<Long> endsNs = new ArrayDeque<>();
    for (int channel = 0; channel < 6 * 300; channel++) {
      nowNs += TimeUnit.SECONDS.toNanos(1) / 6;
      while (!endsNs.isEmpty() && endsNs.peek() - nowNs <= 0) {
        endsNs.remove();
        admission.onEnded(HOST, false, 10);
        admission.onEnded(HOST, false, 0);
      }
      for (int session = 0; session < 2; session++) {
        assertTrue(admission.onStream(HOST));
        admission.onSpoken(HOST);
        assertEquals(0, admission.delayNs(HOST), "channel " + channel);
      }
      endsNs.add(nowNs + lifeNs);
    }
  }

  @Test
  void silentStreamsOfAHostAreBounded() {
    for (int i = 0; i < MAX_SILENT; i++) {
      assertTrue(admission.onStream(HOST), "stream " + i);
    }
    assertFalse(admission.onStream(HOST));
    assertTrue(admission.onStream(OTHER));
    admission.onSpoken(HOST);
    assertTrue(admission.onStream(HOST));
    assertFalse(admission.onStream(HOST));
  }

  @Test
  void abandonedStreamsUseUpTheBurst() {
    for (long spent = 0; spent <= BURST * INTERVAL_NS; spent += ABANDONED_COST_NS) {
      assertEquals(0, admission.delayNs(OTHER));
      admission.onAbandoned(HOST);
    }
    assertNotEquals(0, admission.delayNs(HOST));
  }
}
