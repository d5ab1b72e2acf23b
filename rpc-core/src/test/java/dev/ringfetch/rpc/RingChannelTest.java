package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.Codecs;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.ClientSession;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.SecurityLevel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

/** What only a ring does: one frame each way, and the rule which calls it carries. */
final class RingChannelTest {
  private final RingHarness harness = new RingHarness();

  @AfterEach
  void close() throws Exception {
    try (RingHarness closing = harness) {
      closing.verify(closing.channel());
    }
  }

  private RingChannel start() throws Exception {
    harness.handle(Bytes.digesting()).start();
    return (RingChannel) harness.channel();
  }

  private static byte[] blockingCall(RingChannel channel, byte[] request) {
    return ClientCalls.blockingUnaryCall(channel, Bytes.METHOD, CallOptions.DEFAULT, request);
  }

  private static Status statusOf(RingChannel channel, CallOptions options) throws Exception {
    return new Exchange(channel, Bytes.METHOD, options).send(new byte[1]).await();
  }

  @Test
  void aSmallCallIsOneFrameEachWay() throws Exception {
    final RingChannel channel = start();
    final ClientSession session = channel.ring().session();
    for (final int length : new int[] {0, 1, 32}) {
      final long written = session.writePosition();
      final long polled = session.pollPosition();
      assertEquals(length, blockingCall(channel, new byte[length]).length);
      assertEquals(1, session.writePosition() - written, "slots of the request");
      assertEquals(1, session.pollPosition() - polled, "slots of the response");
    }
    // A frame of two slots skips the ring's last one, and a ring begins anywhere: one of two does
    // not.
    assertEquals(2, Math.min(slotsOf33Bytes(channel), slotsOf33Bytes(channel)));
  }

  private static long slotsOf33Bytes(RingChannel channel) {
    final ClientSession session = channel.ring().session();
    final long written = session.writePosition();
    assertEquals(33, blockingCall(channel, new byte[33]).length);
    return session.writePosition() - written;
  }

  @Test
  void aSmallAsynchronousCallIsOneFrameEachWay() throws Exception {
    final RingChannel channel = start();
    final ClientSession session = channel.ring().session();
    final long written = session.writePosition();
    final long polled = session.pollPosition();
    for (int i = 0; i < 100; i++) {
      assertEquals(32, new Exchange(channel).send(new byte[32]).response().length);
    }
    assertEquals(100, session.writePosition() - written);
    assertEquals(100, session.pollPosition() - polled);
  }

  @Test
  void aChannelTellsWhatServesIt() throws Exception {
    final RingChannel channel = start();
    final Transport transport = channel.transport();
    assertTrue(transport.isRing());
    assertEquals("shm", transport.name());
    assertTrue(transport.reason().length() > 3, transport::reason);
    assertTrue(channel.toString().contains("shm"), channel::toString);
    for (int i = 1; i <= 5; i++) {
      blockingCall(channel, new byte[1]);
      assertEquals(i, channel.ringCalls());
    }
    assertEquals("shm", ((RingServer) harness.server()).fabrics());
    assertEquals(1, ((RingServer) harness.server()).sessionCount());
  }

  @Test
  void channelsOfAProcessHaveASessionEach() throws Exception {
    final RingChannel channel = start();
    final RingChannel second = (RingChannel) harness.connect(InsecureChannelCredentials.create());
    try {
      assertEquals(5, blockingCall(second, new byte[5]).length);
      assertEquals(5, blockingCall(channel, new byte[5]).length);
      assertEquals(2, ((RingServer) harness.server()).sessionCount());
    } finally {
      second.shutdown();
      assertTrue(second.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
    assertEquals(5, blockingCall(channel, new byte[5]).length);
  }

  @Test
  void aCallThatARingCannotCarryIsUnimplemented() throws Exception {
    blockingCall(start(), new byte[1]);
    final RingChannel channel =
        harness
            .newChannelBuilder(
                "localhost:" + harness.server().getPort(), InsecureChannelCredentials.create())
            .defaultServiceConfig(ServiceConfigTest.RETRIED)
            .build();
    try {
      TransportContract.assertStatus(
          Status.Code.UNIMPLEMENTED,
          "gRPC retries calls of " + Bytes.METHOD.getFullMethodName(),
          statusOf(channel, CallOptions.DEFAULT));
    } finally {
      channel.shutdown();
      assertTrue(channel.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
  }

  @Test
  void anAuthorityThatACertificateWouldHaveToBearIsForGrpc() throws Exception {
    blockingCall(start(), new byte[1]);
    final Attributes secure =
        Attributes.newBuilder()
            .set(Grpc.TRANSPORT_ATTR_SSL_SESSION, Mockito.mock(SSLSession.class))
            .build();
    final CallOptions own = CallOptions.DEFAULT.withAuthority("other");
    assertNull(RingChannel.obstacle(Bytes.METHOD, own, connection(Attributes.EMPTY)));
    assertNull(RingChannel.obstacle(Bytes.METHOD, CallOptions.DEFAULT, connection(secure)));
    assertEquals(
        Counter.CHANNEL_CALLS_KEPT_AUTHORITY,
        RingChannel.obstacle(Bytes.METHOD, own, connection(secure)).counter());
  }

  private static ClientConnection connection(Attributes attributes) {
    return new ClientConnection(
        null,
        "shm",
        List.of(Bytes.METHOD.getFullMethodName()),
        attributes,
        SecurityLevel.NONE,
        Codecs.DEFAULT);
  }

  /** Over gRPC this would be a deadlock: its direct callbacks run in the event loop. */
  @Test
  void aDirectCallbackMayMakeABlockingCall() throws Exception {
    harness.channel(builder -> builder.directExecutor());
    final RingChannel channel = start();
    for (int round = 0; round < 100; round++) {
      final List<byte[]> inner = Collections.synchronizedList(new ArrayList<>());
      final List<Exchange> calls = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        final int length = i;
        calls.add(
            new Exchange(channel) {
              @Override
              void inMessage(byte[] message) {
                inner.add(blockingCall(channel, Bytes.random(length, 100 * length)));
              }
            }.send(new byte[length]));
      }
      for (int i = 0; i < 20; i++) {
        assertEquals(i, calls.get(i).response().length);
      }
      assertEquals(20, inner.size());
    }
  }

  @Test
  void aDirectHandlerMayCallAnotherServer() throws Exception {
    final RingHarness front = new RingHarness();
    final RingChannel back = start();
    front.server(builder -> builder.directExecutor());
    front.handle(Bytes.answering(request -> blockingCall(back, request))).start();
    try (front) {
      final byte[] request = Bytes.random(1, 500);
      assertArrayEquals(
          Bytes.digest(request), blockingCall((RingChannel) front.channel(), request));
    }
  }

  /** Over gRPC this hurts every later call of the connection. */
  @Test
  void anExecutorThatRejectsHurtsItsOwnCallsOnly() throws Exception {
    final RingChannel channel = start();
    final Exchange lost =
        new Exchange(
            channel,
            Bytes.METHOD,
            CallOptions.DEFAULT.withExecutor(
                task -> {
                  throw new RejectedExecutionException("full");
                }));
    try {
      lost.send(new byte[1]);
    } catch (RejectedExecutionException e) {
      // it may come to the caller
    }
    for (int i = 0; i < 20; i++) {
      assertEquals(i, new Exchange(channel).send(new byte[i]).response().length);
      assertEquals(i, blockingCall(channel, new byte[i]).length);
    }
  }

  @Test
  void moreCallsThanStreamsEndUnavailable() throws Exception {
    final Served.Handler handler = Served.hanging();
    harness.server(builder -> ((RingServerBuilder) builder).maxStreams(3));
    harness.handle(handler).start();
    final RingChannel channel = (RingChannel) harness.channel();
    final List<Exchange> calls = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      calls.add(new Exchange(channel).send(new byte[1]));
    }
    TransportContract.assertStatus(
        Status.Code.UNAVAILABLE, "as many calls", statusOf(channel, CallOptions.DEFAULT));
    for (int i = 0; i < 3; i++) {
      final Served served = handler.take();
      served.awaitHalfClose();
      served.answer(new byte[2]);
    }
    for (final Exchange call : calls) {
      assertEquals(2, call.response().length);
    }
    calls.clear();
    for (int round = 0; round < 20; round++) { // no stream is lost, however the call ends
      final Exchange call = new Exchange(channel).send(new byte[1]);
      final Served served = handler.take();
      served.awaitHalfClose();
      if (round % 2 == 0) {
        call.call().cancel("enough", null);
        assertEquals("cancel", served.awaitEnd());
        assertEquals(Status.Code.CANCELLED, call.await().getCode());
      } else {
        served.answer(new byte[2]);
        assertEquals(2, call.response().length);
      }
    }
  }

  @Test
  void smallRingsCarryLongMessages() throws Exception {
    harness.channel(
        builder -> ((RingChannelBuilder) builder).ringLengths(4096, 4096).maxFrameLength(1024));
    final RingChannel channel = start();
    for (final int length : new int[] {0, 900, 1000, 1024, 4000, 4096, 5000, 300_000}) {
      final byte[] request = Bytes.random(length, length);
      assertArrayEquals(Bytes.digest(request), blockingCall(channel, request), "length=" + length);
    }
    final List<Exchange> calls = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      calls.add(new Exchange(channel).send(Bytes.random(i, 1000 * i)));
    }
    for (int i = 0; i < 50; i++) {
      assertArrayEquals(Bytes.digest(Bytes.random(i, 1000 * i)), calls.get(i).response());
    }
  }

  @Test
  void aCallThatMayNotFallBackWaitsUnderItsDeadline() throws Exception {
    final RingChannel channel = start();
    blockingCall(channel, new byte[1]);
    final RingChannel nowhere =
        harness.newChannelBuilder("localhost:1", InsecureChannelCredentials.create()).build();
    try {
      final long start = System.nanoTime();
      final Status status =
          statusOf(nowhere, CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.SECONDS));
      assertEquals(Status.Code.UNAVAILABLE, status.getCode());
      assertTrue(status.getDescription().contains("no ring"), status::toString);
      assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(15));
      assertThrows(StatusRuntimeException.class, () -> blockingCall(nowhere, new byte[1]));
    } finally {
      nowhere.shutdown();
      assertTrue(nowhere.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
  }
}
