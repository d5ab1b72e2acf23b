package dev.ringfetch.examples.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.examples.process.Answer;
import org.junit.jupiter.api.Test;

final class WorkRequestsTest {
  private final WorkRequests some = new WorkRequests(10, 25, 0, 1, 2);

  @Test
  void differencesAndSumsAreByKind() {
    final WorkRequests more = new WorkRequests(11, 22, 33, 44, 55);
    assertEquals(new WorkRequests(1, -3, 33, 43, 53), more.since(some));
    assertEquals(new WorkRequests(21, 47, 33, 45, 57), more.plus(some));
    assertEquals(some, some.plus(WorkRequests.NONE));
  }

  @Test
  void comesBackAsItWas() {
    final Answer answer = some.addTo(new Answer());
    assertEquals(some, WorkRequests.parse(answer));
  }

  @Test
  void wholeNumbersHaveNoFraction() {
    assertEquals("1/2.5000/0 +0.1000 !0.2000", some.perCall(10));
    assertEquals(
        "client_writes=1 client_reads=2.5000 client_sends=0 client_control=0.1000 client_signaled=0.2000",
        some.fields("client", 10));
    assertEquals("-/-/- +- !-", some.perCall(0));
  }
}
