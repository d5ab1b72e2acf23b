package dev.ringfetch.index.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
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
    assertNull(requests.poll(REQUEST));
    nowNs += 1_000_000 * MS;
    assertNull(requests.poll(REQUEST));
    assertEquals(1, channel.calls.size());
    channel.answer(0);
    assertEquals(GRANT, requests.poll(REQUEST));
  }

  @Test
  void refusedRequestsWaitTwiceAsLongEachTimeUpToALimit() {
    long delayMs = 10;
    for (int i = 0; i < 20; i++) {
      assertNull(requests.poll(REQUEST));
      assertEquals(i + 1, channel.calls.size());
      channel.refuse(i);
      assertNull(requests.poll(REQUEST));
      assertEquals("NOT_FOUND: none", requests.obstacle());
      nowNs += delayMs * MS - 1;
      assertNull(requests.poll(REQUEST));
      assertEquals(i + 1, channel.calls.size(), "too early");
      nowNs++;
      delayMs = Math.min(2 * delayMs, 10_000);
    }
  }

  @Test
  void grantThatHasEndedIsAskedForAtOnce() {
    assertNull(requests.poll(REQUEST));
    channel.answer(0);
    assertEquals(GRANT, requests.poll(REQUEST));
    requests.served();
    assertNull(requests.poll(REQUEST));
    assertEquals(1, channel.calls.size());
    requests.ended("memory is closed");
    assertEquals("memory is closed", requests.obstacle());
    assertNull(requests.poll(REQUEST));
    assertEquals(2, channel.calls.size());
  }

  @Test
  void closeCancelsWhatIsUnderWay() {
    assertNull(requests.poll(REQUEST));
    requests.close();
    assertTrue(channel.calls.get(0).cancelled);
  }

  /** Keeps each call until the test answers it. */
  private static final class FakeChannel extends Channel {
    private final List<FakeCall> calls = new ArrayList<>();

    void answer(int number) {
      calls.get(number).listener.onMessage(GRANT);
      calls.get(number).listener.onClose(Status.OK, new Metadata());
    }

    void refuse(int number) {
      calls.get(number).listener.onClose(Status.NOT_FOUND.withDescription("none"), new Metadata());
    }

    @Override
    @SuppressWarnings("unchecked") // of one method
    public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
      final FakeCall call = new FakeCall();
      calls.add(call);
      return (ClientCall<Q, R>) call;
    }

    @Override
    public String authority() {
      return "fake";
    }
  }

  private static final class FakeCall extends ClientCall<GrantRequest, GrantResponse> {
    private Listener<GrantResponse> listener;
    private boolean cancelled;

    @Override
    public void start(Listener<GrantResponse> listener, Metadata headers) {
      this.listener = listener;
    }

    @Override
    public void request(int count) {}

    @Override
    public void cancel(String message, Throwable cause) {
      cancelled = true;
    }

    @Override
    public void halfClose() {}

    @Override
    public void sendMessage(GrantRequest message) {}
  }
}
