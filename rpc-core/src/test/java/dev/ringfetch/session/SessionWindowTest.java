package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;
import static dev.ringfetch.session.FlowSteps.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.FlowSteps.Call;
import dev.ringfetch.session.FlowSteps.Served;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows that grow with the messages that come through them. */
@Timeout(60)
class SessionWindowTest {
  private static final VarHandle GROWN = FrameRules.field(Windows.class, "grown", long.class);
  private static final long BUDGET = 64L << 20;
  private static final int MAX_WINDOW = 8 << 20;
  private static final int LONG = 2 << 20; // four of them take the longest window
  private static final Sizes SIZES = new Sizes(1024 * 1024, 64 * 1024, 16, 4 << 20);

  private final BulkSteps bulk = new BulkSteps(SIZES, 4 << 20);
  private final SessionSteps steps = bulk.steps;

  /** The two ends of a stream. */
  private record Ends(Call call, Served served) {}

  private Ends begin() {
    final Call call = bulk.flows.begin();
    steps.settle();
    final Served served = bulk.flows.served();
    served.take();
    return new Ends(call, served);
  }

  private void request(Ends ends, int length) {
    steps.client.write(ends.call.stream, BulkSteps.unit(steps.client, MESSAGE, message(length, 1)));
    steps.settle();
  }

  private void respond(Ends ends, int length) {
    steps.server.write(
        ends.served.stream, BulkSteps.unit(steps.server, MESSAGE, message(length, 1)));
    steps.settle();
  }

  private static int window(Stream sender) {
    return FlowRules.peerWindow(sender.flow);
  }

  private static long grown(Session session) {
    return (long) GROWN.get(session.windows);
  }

  @Test
  void windowIsFourOfTheLongestMessages() {
    final Ends ends = begin();
    request(ends, 10_000);
    assertEquals(10_000, ends.served.take().total());
    steps.settle();
    assertEquals(Flow.WINDOW_LENGTH, window(ends.call.stream), "four of them fit as it is");
    request(ends, 50_000);
    assertEquals(Flow.WINDOW_LENGTH, window(ends.call.stream), "before it is consumed");
    ends.served.take();
    steps.settle();
    assertEquals(4 * 50_064, window(ends.call.stream));
    assertEquals(4 * 50_064 - Flow.WINDOW_LENGTH, grown(steps.server));
    assertEquals(0, grown(steps.client));
    request(ends, 20_000);
    ends.served.take();
    steps.settle();
    assertEquals(4 * 50_064, window(ends.call.stream), "it never shrinks");
    for (int i = 0; i < 5; i++) {
      request(ends, 50_000);
    }
    assertEquals(50_064, ends.call.stream.flow().queuedLength(), "four on their way");
    assertNull(steps.server.endReason());
    assertEquals(Flow.WINDOW_LENGTH, window(ends.served.stream), "the other way has its own");
  }

  @Test
  void windowOfTheClientGrowsToo() {
    final Ends ends = begin();
    respond(ends, 50_000);
    ends.call.take();
    steps.settle();
    assertEquals(4 * 50_064, window(ends.served.stream));
    assertEquals(4 * 50_064 - Flow.WINDOW_LENGTH, grown(steps.client));
    for (int i = 0; i < 5; i++) {
      respond(ends, 50_000);
    }
    assertEquals(4, ends.call.takeAll().size());
    assertNull(steps.client.endReason());
  }

  /** However a stream ends, its window is there for others. */
  @ParameterizedTest
  @ValueSource(strings = {"answer", "cancel", "abort"})
  void endGivesTheWindowBack(String how) {
    final Ends ends = begin();
    request(ends, 50_000);
    ends.served.take();
    respond(ends, 60_000);
    ends.call.take();
    steps.settle();
    assertTrue(grown(steps.server) > 0 && grown(steps.client) > 0);
    switch (how) {
      case "answer" -> steps.server.write(ends.served.stream, new Unit(SUFFIX, 0, buffer()));
      case "cancel" -> ends.call.cancel();
      default -> steps.server.abort("over");
    }
    steps.settle();
    assertEquals(0, grown(steps.server));
    if (!steps.client.hasEnded()) {
      assertEquals(0, grown(steps.client));
    }
  }

  private static UnitBuffer buffer() {
    return new UnitBuffer();
  }

  @Test
  void allWindowsTogetherAreBounded() {
    final List<Ends> all = new ArrayList<>();
    int longest = 0;
    for (int i = 0; i < 10; i++) {
      final Ends ends = begin();
      all.add(ends);
      request(ends, LONG);
      assertEquals(LONG, ends.served.take().total());
      steps.settle();
      longest += window(ends.call.stream) == MAX_WINDOW ? 1 : 0;
      assertTrue(grown(steps.server) <= BUDGET, "grown=" + grown(steps.server));
    }
    assertEquals(8, longest);
    assertEquals(Flow.WINDOW_LENGTH, window(all.get(9).call.stream));
    all.get(0).call.cancel();
    steps.settle();
    request(all.get(9), 10);
    request(all.get(9), LONG);
    all.get(9).served.takeAll();
    steps.settle();
    assertEquals(MAX_WINDOW, window(all.get(9).call.stream), "what another has given back");
    bulk.assertGivenBack();
  }

  /** The longer the window, the fewer updates: one for each quarter of it. */
  @Test
  void longWindowTakesNoMoreUpdatesThanAShortOne() {
    final Ends ends = begin();
    request(ends, 50_000);
    ends.served.take();
    steps.settle();
    final int quarter = window(ends.call.stream) / 4;
    final long before = steps.server.writePosition();
    int consumed = 0;
    for (int i = 0; i < 80; i++) {
      request(ends, 10_000);
      consumed += (int) ends.served.take().cost();
    }
    final int updates = updates(before);
    assertTrue(
        updates <= consumed / quarter && updates >= consumed / quarter / 2,
        "updates=" + updates + " quarters=" + consumed / quarter);
  }

  /** A client that has said its last word waits for no window. */
  @Test
  void whoSendsNothingMoreIsToldOfNoWindow() {
    final Ends ends = begin();
    for (int i = 0; i < 3; i++) {
      request(ends, 20_000);
    }
    steps.client.write(ends.call.stream, new Unit(SUFFIX, 0, buffer()));
    steps.settle();
    final long before = steps.server.writePosition();
    assertEquals(4, ends.served.takeAll().size());
    steps.settle();
    assertEquals(0, updates(before));
  }

  private int updates(long position) {
    return (int)
        bulk.frames(steps.server, position).stream()
            .filter(frame -> frame.has(WINDOW_UPDATE))
            .count();
  }

  @Test
  void windowOfAStreamThatHasEndedGrowsNoMore() {
    final Ends ends = begin();
    request(ends, 50_000);
    steps.server.write(ends.served.stream, new Unit(PREFIX | SUFFIX, 0, buffer()));
    steps.settle();
    ends.served.take();
    steps.settle();
    assertEquals(0, grown(steps.server));
  }
}
