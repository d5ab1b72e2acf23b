package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.answerTo;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.unit.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class SessionCallTest {
  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY);

  @Test
  void callIsAnswered() {
    Call call = steps.send(bytes(20, 1));
    steps.stepServer();
    ServerCall request = steps.request();
    assertArrayEquals(bytes(20, 1), request.request);
    assertEquals(5, request.stream.inboundCode());
    assertEquals(SessionSteps.UNIT, request.stream.inboundFlags());
    assertEquals(Stream.NO_DEADLINE, request.stream.deadlineNs());
    request.respond(bytes(30, 2));
    assertNull(call.outcome);
    steps.stepClient();
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertArrayEquals(bytes(30, 2), call.response);
    assertEquals(SessionSteps.UNIT, call.flags);
    assertFalse(call.discarded);
    steps.settle();
    assertEquals(0, request.cancels);
    assertFalse(steps.client.hasEnded());
    assertFalse(steps.server.hasEnded());
  }

  @Test
  void smallCallIsOneSlotEachWay() {
    long client = steps.client.writePosition();
    long server = steps.server.writePosition();
    steps.send(bytes(32, 1));
    steps.settle();
    steps.request().respond(bytes(32, 1));
    steps.settle();
    assertEquals(client + 1, steps.client.writePosition());
    assertEquals(server + 1, steps.server.writePosition());
    assertEquals(client + 1, steps.server.pollPosition());
  }

  @Test
  void statusAndFlagsGoWithTheUnit() {
    Call call = steps.send(new byte[0]);
    steps.settle();
    ServerCall request = steps.request();
    request.stream.outbound().addInt(0);
    int flags = FrameDescriptor.SUFFIX | FrameDescriptor.DESCRIPTION;
    steps.server.respond(request.stream, flags, 13, true);
    steps.settle();
    assertEquals(13, call.code);
    assertEquals(flags, call.flags);
  }

  @Test
  void callsAreAnsweredInAnyOrder() {
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      List<Call> calls = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        calls.add(steps.send(bytes(random.nextInt(200), i)));
        if (random.nextInt(4) == 0) {
          steps.stepServer();
        }
      }
      steps.settle();
      assertEquals(40, steps.requests.size());
      Collections.shuffle(steps.requests, random);
      for (ServerCall request : steps.requests) {
        request.echo();
        if (random.nextInt(4) == 0) {
          steps.stepClient();
        }
      }
      steps.requests.clear();
      steps.settle();
      for (int i = 0; i < 40; i++) {
        Call call = calls.get(i);
        assertEquals(Outcome.ANSWERED, call.outcome, "seed=" + seed);
        assertTrue(call.response.length == 0 || call.response[0] == (byte) (i + 1), "seed=" + seed);
      }
    }
  }

  @Test
  void streamsRunOutAndComeBackWithTheNextGeneration() {
    List<Call> calls = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      calls.add(steps.send(bytes(1, i)));
    }
    assertNull(steps.client.open());
    assertNull(steps.client.open());
    steps.settle();
    int id = calls.get(10).stream.id;
    steps.requests.stream().filter(r -> r.id == id).forEach(ServerCall::echo);
    steps.settle();
    Call again = steps.send(bytes(1, 1));
    assertSame(calls.get(10).stream, again.stream);
    assertEquals(id + 0x10000, again.stream.id);
    assertNull(steps.client.open());
  }

  @Test
  void streamsOfTheServerAreReusedUpToALimit() {
    SessionSteps wide = new SessionSteps(new Sizes(64 * 1024, 4096, 1100, 1000));
    Set<ServerStream> first = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 1100; i++) {
        wide.send(bytes(1, 1));
      }
      wide.settle();
      assertEquals(1100, wide.requests.size());
      if (round == 0) {
        wide.requests.forEach(request -> first.add(request.stream));
        wide.answerAll();
      }
    }
    assertEquals(1024, wide.requests.stream().filter(r -> first.contains(r.stream)).count());
  }

  @Test
  void bigUnitGoesAsAChainAndOthersInterleave() {
    byte[] big = new byte[30_000];
    new Random(1).nextBytes(big);
    Call first = steps.send(big);
    Call second = steps.prepare(big, Stream.NO_DEADLINE);
    Call small = steps.prepare(bytes(10, 3), Stream.NO_DEADLINE);
    assertNotNull(small);
    steps.settle();
    ServerCall request = steps.request();
    assertArrayEquals(big, request.request);
    steps.client.send(second.stream);
    steps.client.send(small.stream);
    steps.settle();
    steps.requests.forEach(ServerCall::echo);
    request.echo();
    steps.settle();
    for (Call call : List.of(first, second)) {
      assertArrayEquals(answerTo(big), call.response);
    }
    assertArrayEquals(bytes(10, 4), small.response);
  }

  @Test
  void smallCallOvertakesABigOne() {
    SessionSteps tight = new SessionSteps(new Sizes(1024, 256, 8, 1 << 20));
    Call big = tight.send(bytes(10_000, 1));
    Call small = tight.send(bytes(10, 2));
    for (int i = 0; tight.requests.isEmpty(); i++) {
      assertTrue(i < 20, "frames of a chain leave others their turn");
      tight.stepServer();
      tight.stepClient();
    }
    assertArrayEquals(bytes(10, 2), tight.request().request);
    assertFalse(big.isOver() || small.isOver());
    tight.settle();
    assertEquals(10_000, tight.request().request.length);
  }

  /**
   * Every length around the borders of frames, through rings that hold one frame and little else.
   */
  @ParameterizedTest
  @CsvSource({"128, 128", "128, 64", "256, 256", "256, 128", "256, 192", "512, 512", "512, 192"})
  void everyLengthGetsThroughSmallRings(int ring, int frame) {
    SessionSteps small = new SessionSteps(new Sizes(ring, frame, 8, 1 << 20));
    for (int length = 0; length < 700; length += 1 + length / 100) {
      byte[] request = bytes(length, length);
      Call call = small.send(request);
      small.settle();
      assertEquals(1, small.requests.size(), "request of length=" + length);
      small.request().echo();
      small.settle();
      assertEquals(Outcome.ANSWERED, call.outcome, "response of length=" + length);
      assertTrue(Arrays.equals(answerTo(request), call.response), "length=" + length);
    }
  }

  @Test
  void blockingCallPollsForItself() {
    Call call = steps.prepare(bytes(8, 1), Stream.NO_DEADLINE);
    steps.client.sendAndPoll(call.stream); // does not spin here: leaves armed, unanswered
    assertFalse(call.isOver());
    steps.settle();
    steps.request().echo();
    steps.settle();
    assertEquals(Outcome.ANSWERED, call.outcome);
  }

  @Test
  void oversizeResponseIsReportedAndDropped() {
    Call call = steps.prepare(bytes(8, 1), Stream.NO_DEADLINE);
    call.stream.prepare(call, SessionSteps.UNIT, 5, Stream.NO_DEADLINE, 5000);
    steps.client.send(call.stream);
    steps.settle();
    steps.request().respond(bytes(5001, 1));
    steps.settle();
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertTrue(call.discarded);
    assertEquals(0, call.response.length);
    Call next = steps.send(bytes(8, 1));
    steps.settle();
    steps.request().respond(bytes(5001, 1));
    steps.settle();
    assertEquals(5001, next.response.length);
  }

  @Test
  void oversizeRequestIsRefusedOnItsFirstFrame() {
    int max = 10_000;
    SessionSteps strict = new SessionSteps(new Sizes(1024, 256, 8, max));
    int longest = Units.maxLength(max, 8 * 1024);
    Call fits = strict.send(bytes(longest, 1));
    strict.settle();
    assertEquals(longest, strict.request().request.length);

    long before = strict.client.writePosition();
    Call call = strict.send(bytes(longest + 1, 1));
    strict.settle();
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertEquals(8, call.code);
    assertEquals(FrameDescriptor.SUFFIX | FrameDescriptor.DESCRIPTION, call.flags);
    String text = new String(call.response, java.nio.charset.StandardCharsets.UTF_8);
    assertTrue(text.startsWith(Units.tooLong(max, longest + 1)), text);
    assertTrue(strict.requests.isEmpty());
    assertTrue(strict.client.writePosition() - before < 40, "the client stops when it was refused");

    Call next = strict.send(bytes(100, 7)); // the same index
    strict.settle();
    strict.request().echo();
    strict.settle();
    assertArrayEquals(bytes(100, 8), next.response);
    assertFalse(fits.isOver());
  }

  /** The deadline that travels before a message is none of its length. */
  @Test
  void oversizeRequestWithADeadlineIsToldItsOwnLength() {
    int max = 10_000;
    SessionSteps strict = new SessionSteps(new Sizes(1024, 256, 8, max));
    int longest = Units.maxLength(max, 8 * 1024);
    Call call = strict.send(bytes(longest, 1), 1_000_000);
    strict.settle();
    assertEquals(8, call.code);
    String text = new String(call.response, java.nio.charset.StandardCharsets.UTF_8);
    assertTrue(text.startsWith(Units.tooLong(max, longest)), text);
  }

  @Test
  void listenerThatThrowsDoesNotHurtTheNextOne() {
    List<Throwable> uncaught = new ArrayList<>();
    Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
    Thread.currentThread().setUncaughtExceptionHandler((thread, t) -> uncaught.add(t));
    try {
      Call first = steps.send(bytes(1, 1));
      Call second = steps.send(bytes(1, 2));
      first.onClosed =
          () -> {
            throw new IllegalStateException("listener");
          };
      steps.settle();
      steps.requests.forEach(ServerCall::echo);
      steps.settle();
      assertEquals(Outcome.ANSWERED, second.outcome);
      assertEquals(1, uncaught.size());
      assertEquals("listener", uncaught.get(0).getMessage());
      assertFalse(steps.client.hasEnded());
    } finally {
      Thread.currentThread().setUncaughtExceptionHandler(before);
    }
  }

  @Test
  void listenerStartsTheNextCall() {
    List<Call> chain = new ArrayList<>();
    Call first = steps.send(bytes(1, 1));
    first.onClosed = () -> chain.add(steps.send(bytes(1, 2)));
    steps.settle();
    steps.request().echo();
    steps.settle();
    steps.request().echo();
    steps.settle();
    assertEquals(Outcome.ANSWERED, chain.get(0).outcome);
  }
}
