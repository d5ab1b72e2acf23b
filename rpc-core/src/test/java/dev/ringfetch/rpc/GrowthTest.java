package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.protocol.Hello;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.RingSizes;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.system.Await;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ConnectivityStateInfo;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.stub.ClientCalls;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Sessions begin with short rings; where these were full, another takes the session's place. */
class GrowthTest extends RingFixture {
  private static final int SHORT = 16 * 1024;
  private static final int WHOLE = 256 * 1024;
  private static final int IN_FLIGHT = 200;
  private static final int BURSTS = 1_000;

  /** Lengths of the rings of requests that were asked for. */
  private final List<Integer> wishes = Collections.synchronizedList(new ArrayList<>());

  /** True if the server does not answer clients that ask for long rings. */
  private volatile boolean silent;

  private volatile boolean abandoned;

  private RingChannelBuilder watched() {
    final Beneath watching =
        new Beneath() {
          @Override
          public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
            return new SimpleForwardingClientCall<>(call) {
              @Override
              public void cancel(String reason, Throwable cause) {
                super.cancel(reason, cause);
                abandoned = true;
              }

              @Override
              public void sendMessage(Q message) {
                final int wish =
                    ((OpenRequest) message)
                        .get(OpenRequest.HELLO)
                        .get(Hello.GEOMETRY)
                        .get(RingSizes.REQUEST_RING_BYTES);
                wishes.add(wish);
                if (!silent || wish != WHOLE) {
                  super.sendMessage(message);
                }
              }
            };
          }
        };
    return builder(onSessions(watching)).requireFabric();
  }

  /** Many calls at once, each of which has to be answered, and rightly. */
  private static void burst(RingChannel channel, int length) throws InterruptedException {
    final List<Exchange> calls = new ArrayList<>();
    for (int i = 0; i < IN_FLIGHT; i++) {
      calls.add(new Exchange(channel).send(Bytes.random(i, length)));
    }
    for (int i = 0; i < IN_FLIGHT; i++) {
      assertArrayEquals(Bytes.digest(Bytes.random(i, length)), calls.get(i).response());
    }
  }

  private static void grow(RingChannel channel) throws InterruptedException {
    final long before = opened(channel);
    for (int i = 0; i < BURSTS && opened(channel) == before; i++) {
      burst(channel, 1_000);
    }
    assertEquals(before + 1, opened(channel));
  }

  private static long opened(RingChannel channel) {
    return channel.count(Counter.CHANNEL_SESSIONS_OPENED);
  }

  private static long refused(RingChannel channel) {
    return channel.count(Counter.CHANNEL_SESSIONS_REFUSED);
  }

  @Test
  void whoWaitsForEachAnswerKeepsShortRings() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(watched());
    final ClientSession session = channel.ring().session();
    for (int i = 0; i < 2_000; i++) {
      assertEquals(i, call(channel, i).length);
    }
    assertSame(session, channel.ring().session());
    assertEquals(List.of(SHORT), wishes);
  }

  @Test
  void anotherTakesThePlaceOfAFullOneAndNoCallIsHurt() throws Exception {
    final RingServer server = serve(Bytes.digesting());
    final RingChannel channel = connect(watched());
    final ClientSession first = channel.ring().session();
    grow(channel);
    await("the first one ends", first::hasEnded);
    await("the server has one session", () -> server.sessionCount() == 1);
    for (int i = 0; i < 20; i++) {
      burst(channel, 1_000);
    }
    assertEquals(2, opened(channel)); // whole rings do not grow
    assertEquals(List.of(SHORT, WHOLE), wishes);
  }

  @Test
  void answersFillTheirRing() throws Exception {
    serve(Bytes.answering(request -> new byte[4_000]));
    final RingChannel channel = connect(watched());
    for (int i = 0; i < BURSTS && opened(channel) == 1; i++) {
      final List<Exchange> calls = new ArrayList<>();
      for (int j = 0; j < IN_FLIGHT; j++) {
        calls.add(new Exchange(channel).send(Bytes.EMPTY));
      }
      for (final Exchange call : calls) {
        assertEquals(4_000, call.response().length);
      }
    }
    assertEquals(List.of(SHORT, WHOLE), wishes);
  }

  /** A call that lasts stays where it is, and is answered there. */
  @Test
  void aCallOfTheFirstSessionIsNotHurried() throws Exception {
    final CountDownLatch goOn = new CountDownLatch(1);
    final RingServer server =
        serve(
            Bytes.answering(
                request -> {
                  if (request.length == 1) {
                    Await.latch(goOn);
                  }
                  return Bytes.digest(request);
                }));
    final RingChannel channel = connect(watched());
    final ClientSession first = channel.ring().session();
    final Exchange lasting = new Exchange(channel).send(new byte[1]);
    grow(channel);
    assertEquals(2, server.sessionCount());
    assertEquals(1, first.callCount());
    goOn.countDown();
    assertEquals(1, lasting.response().length);
    await("the first one ends", first::hasEnded);
  }

  /** Its rings and its memory are the process's until it is. */
  @Test
  void theFirstOneIsForgotten() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(watched());
    final WeakReference<ClientSession> first = new WeakReference<>(channel.ring().session());
    grow(channel);
    await(
        "nobody holds the first one",
        () -> {
          System.gc();
          return first.get() == null;
        });
    assertTrue(channel.ring().isOpen()); // all this while there was its successor
  }

  /** A server with no room for another session: the one that there is goes on. */
  @Test
  void whereThereIsNoRoomForAnotherTheFirstGoesOn() throws Exception {
    serve(Bytes.digesting(), options -> options.maxSessions(1));
    final RingChannel channel = connect(watched());
    final ClientSession session = channel.ring().session();
    for (int i = 0; i < BURSTS && refused(channel) == 0; i++) {
      burst(channel, 1_000);
    }
    for (int i = 0; i < 20; i++) {
      burst(channel, 1_000);
    }
    assertEquals(1, refused(channel)); // it is asked once
    assertSame(session, channel.ring().session());
    assertTrue(channel.transport().isRing());
  }

  @Test
  void lengthsThatAreSetAreThereFromTheBeginning() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(watched().ringLengths(2 * SHORT, SHORT));
    for (int i = 0; i < 50; i++) {
      burst(channel, 1_000);
    }
    assertEquals(List.of(2 * SHORT), wishes);
  }

  @Test
  void whatHasBeenIdleBeginsWithShortRingsAgain() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(watched());
    grow(channel);
    channel.enterIdle();
    assertEquals(
        5,
        ClientCalls.blockingUnaryCall(
                channel, Bytes.METHOD, CallOptions.DEFAULT.withWaitForReady(), new byte[5])
            .length);
    assertEquals(List.of(SHORT, WHOLE, SHORT), wishes);
  }

  private RingChannel growing() throws Exception {
    serve(Bytes.digesting());
    silent = true;
    final RingChannel channel = connect(watched());
    for (int i = 0; i < BURSTS && wishes.size() == 1; i++) {
      burst(channel, 1_000);
    }
    burst(channel, 1_000); // which goes on meanwhile
    assertEquals(List.of(SHORT, WHOLE), wishes);
    assertEquals(1, opened(channel));
    return channel;
  }

  @Test
  void aChannelThatGrowsShutsDown() throws Exception {
    final RingChannel channel = growing();
    channel.shutdown();
    assertTerminates(channel);
  }

  @Test
  void aChannelThatGrowsGoesToRest() throws Exception {
    final RingChannel channel = growing();
    final ClientSession first = channel.ring().session();
    channel.enterIdle();
    await("the first one ends", first::hasEnded);
    await("its growth ends", () -> abandoned);
    assertEquals("the channel is idle", channel.transport().reason());
    assertEquals(0, refused(channel));
    assertEquals(
        5,
        ClientCalls.blockingUnaryCall(
                channel, Bytes.METHOD, CallOptions.DEFAULT.withWaitForReady(), new byte[5])
            .length);
    assertEquals(List.of(SHORT, WHOLE, SHORT), wishes);
  }

  @Test
  void aLostConnectionIsNoRest() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(watched().defaultLoadBalancingPolicy("pick_first"));
    grow(channel);
    final ClientSession whole = channel.ring().session();
    final Backend backend = channel.pick(Bytes.METHOD, CallOptions.DEFAULT, null).backend();
    backend.onState(ConnectivityStateInfo.forNonError(ConnectivityState.IDLE));
    await("the session ends", whole::hasEnded);
    assertEquals(Backend.LOST_CONNECTION, channel.transport().reason());
    backend.onState(ConnectivityStateInfo.forNonError(ConnectivityState.READY));
    assertEquals(5, call(channel, 5).length);
    assertEquals(List.of(SHORT, WHOLE, WHOLE), wishes);
  }
}
