package dev.ringfetch.index.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.ReleaseRequest;
import io.grpc.Status;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When a grant is asked for, over a channel whose answers the test makes. */
class GrantRequestsTest {
  private static final GrantRequest REQUEST = GrantRequest.getDefaultInstance();
  private static final GrantResponse GRANT = GrantResponse.newBuilder().setSeed(7).build();
  private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);

  private final FakeChannel channel = new FakeChannel();
  private long nowNs = -5; // a clock need not begin at 0
  private final GrantRequests requests =
      new GrantRequests(channel, TimeUnit.SECONDS.toNanos(1), () -> nowNs);

  @Test
  void oneRequestIsUnderWayAtATime() {
    assertNull(requests.poll(() -> REQUEST));
    nowNs += 1_000_000 * MS;
    assertNull(requests.poll(() -> REQUEST));
    assertEquals(1, channel.calls.size());
    channel.answer(0, GRANT);
    assertEquals(GRANT, requests.poll(() -> REQUEST));
  }

  @Test
  void refusedRequestsWaitTwiceAsLongEachTimeUpToALimit() {
    long delayMs = 10;
    for (int i = 0; i < 20; i++) {
      assertNull(requests.poll(() -> REQUEST));
      assertEquals(i + 1, channel.calls.size());
      channel.refuse(i);
      assertNull(requests.poll(() -> REQUEST));
      assertEquals("NOT_FOUND: none", requests.obstacle());
      nowNs += delayMs * MS - 1;
      assertNull(requests.poll(() -> REQUEST));
      assertEquals(i + 1, channel.calls.size(), "too early");
      nowNs++;
      delayMs = Math.min(2 * delayMs, 10_000);
    }
  }

  @Test
  void grantThatHasEndedIsAskedForAtOnce() {
    assertNull(requests.poll(() -> REQUEST));
    channel.answer(0, GRANT);
    assertEquals(GRANT, requests.poll(() -> REQUEST));
    requests.served();
    assertNull(requests.poll(() -> REQUEST));
    assertEquals(1, channel.calls.size());
    requests.ended("memory is closed");
    assertEquals("memory is closed", requests.obstacle());
    assertNull(requests.poll(() -> REQUEST));
    assertEquals(2, channel.calls.size());
  }

  @Test
  void closeCancelsWhatIsUnderWay() {
    assertNull(requests.poll(() -> REQUEST));
    requests.close();
    assertTrue(channel.calls.get(0).cancelled);
    assertReleased(0, 1);
  }

  /** The server may have granted it all the same. */
  @Test
  void grantThatDoesNotComeInTimeIsReleased() {
    assertNull(requests.poll(() -> REQUEST));
    channel.end(0, Status.DEADLINE_EXCEEDED);
    assertNull(requests.poll(() -> REQUEST));
    assertReleased(0, 1);
    nowNs += 10 * MS;
    assertNull(requests.poll(() -> REQUEST));
    channel.end(2, Status.CANCELLED);
    assertNull(requests.poll(() -> REQUEST));
    assertReleased(2, 3);
    assertNotEquals(token(0), token(2));
  }

  @Test
  void grantThatWasRefusedIsNotReleased() {
    assertNull(requests.poll(() -> REQUEST));
    channel.refuse(0);
    assertNull(requests.poll(() -> REQUEST));
    assertEquals(1, channel.calls.size());
  }

  private ByteString token(int number) {
    return ((GrantRequest) channel.calls.get(number).message).getToken();
  }

  private void assertReleased(int request, int release) {
    assertEquals(release + 1, channel.calls.size());
    assertEquals(
        ReleaseRequest.newBuilder().setToken(token(request)).build(),
        channel.calls.get(release).message);
  }
}
