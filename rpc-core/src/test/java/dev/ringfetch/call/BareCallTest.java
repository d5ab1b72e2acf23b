package dev.ringfetch.call;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.SessionConnection;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.system.Await;
import io.grpc.Attributes;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests of answers: each is valid until its listener returns or makes the next call, and no longer.
 */
@Timeout(60)
final class BareCallTest {
  private static final int RING_LENGTH = 64 * 1024;
  private static final int ROUNDS = 4; // of both sides: more than a call takes
  private static final int LIMIT_S = 30;
  private static final byte[] REQUEST = {1, 2, 3};
  private static final byte[] ANSWER = {4, 5, 6, 7};

  private static final MethodDescriptor<byte[], byte[]> METHOD =
      MethodDescriptor.<byte[], byte[]>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("bare.Bare/Call")
          .setRequestMarshaller(new Nothing())
          .setResponseMarshaller(new Nothing())
          .build();

  private final HeapFabric fabric =
      new HeapFabric(ArenaDescriptor.length(RING_LENGTH, RING_LENGTH));
  private final Poller clientPoller;
  private final Poller serverPoller;
  private final ClientSession session;
  private final ClientConnection connection;
  private final Call call = new Call();

  /** A session with room for one call. */
  BareCallTest() throws IOException {
    final Geometry geometry = new Geometry(RING_LENGTH, RING_LENGTH, 4 * 1024, 1, 7, 100, 200);
    final SessionContext context = new SessionContext().spinNs(0);
    new ControlFlyweight(fabric.server(), ArenaDescriptor.SERVER_CONTROL_OFFSET)
        .consumed(geometry.requestPosition());
    new ControlFlyweight(fabric.client(), ArenaDescriptor.CLIENT_CONTROL_OFFSET)
        .consumed(geometry.responsePosition());
    clientPoller = new Poller(fabric.clientDoorbell(), context);
    serverPoller = new Poller(fabric.serverDoorbell(), context);
    session =
        new ClientSession(
            new SessionConnection(fabric.client(), geometry, clientPoller),
            context,
            (ended, reason) -> {});
    session.serve();
    new ServerSession(
            new SessionConnection(fabric.server(), geometry, serverPoller),
            context,
            (server, stream) -> {
              stream.outbound().addBytes(ANSWER, 0, ANSWER.length);
              server.respond(stream, ServerSteps.UNIT, 0, true);
            },
            (ended, reason) -> {})
        .serve();
    connection =
        new ClientConnection(
            session,
            "heap",
            List.of(METHOD.getFullMethodName()),
            Attributes.EMPTY,
            SecurityLevel.NONE,
            Codecs.DEFAULT);
    rounds();
  }

  private void rounds() throws IOException {
    for (int i = 0; i < ROUNDS; i++) {
      fabric.serverDoorbell().poll();
      serverPoller.doWork();
      fabric.clientDoorbell().poll();
      clientPoller.doWork();
    }
  }

  /** Makes a call, and has its answer there to be told. */
  private void exchange(byte[] request) throws IOException {
    assertNull(call.prepare(connection, request, 0, request.length, BareCall.NO_TIMEOUT));
    call.send(false);
    rounds();
    assertTrue(call.ended, () -> "answered: " + session.endReason());
    call.ended = false;
  }

  private ClientStream free() {
    final ClientStream stream = session.open();
    if (stream != null) {
      session.recycle(stream);
    }
    return stream;
  }

  @Test
  void anAnswerIsLentUntilItsListenerReturns() throws IOException {
    exchange(REQUEST);
    call.onAnswer = () -> assertNull(free(), "taken from the listener");
    call.run();
    assertNotNull(free(), "given back");
  }

  /** By another thread, to which the listener has handed that; it has not returned meanwhile. */
  @Test
  void whoWasToldOfTheLastAnswerLeavesTheNextOneAlone() throws Exception {
    final CountDownLatch told = new CountDownLatch(1);
    final CountDownLatch returns = new CountDownLatch(1);
    exchange(REQUEST);
    call.onAnswer =
        () -> {
          told.countDown();
          Await.latch(returns);
        };
    final Thread first = new Thread(call);
    first.start();
    Await.latch(told);
    exchange(REQUEST); // in the only stream there is
    call.onAnswer =
        () -> {
          returns.countDown();
          join(first);
          assertNull(free(), "given back by the listener of the answer before");
        };
    call.run();
    assertNotNull(free(), "given back");
  }

  /** No ring takes it: what was in the answer may be another's by then. */
  @Test
  void anAnswerMayBeTheNextRequest() throws IOException {
    final BareCallTest full = new BareCallTest();
    assertNotNull(full.session.open());
    exchange(REQUEST);
    call.onAnswer =
        () -> {
          final byte[] left =
              call.prepare(
                  full.connection, call.array, call.offset, call.length, BareCall.NO_TIMEOUT);
          assertNotNull(free(), "given back");
          Arrays.fill(call.array, (byte) 0);
          assertArrayEquals(ANSWER, left);
        };
    call.run();
  }

  private static void join(Thread thread) {
    try {
      thread.join(TimeUnit.SECONDS.toMillis(LIMIT_S));
      assertTrue(!thread.isAlive(), "the first listener's thread");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static final class Call extends BareCall {
    private boolean ended;
    private volatile Runnable onAnswer = () -> {};
    private byte[] array;
    private int offset;
    private int length;

    Call() {
      super(METHOD, new ClientLimits(1024, 1024));
    }

    @Override
    protected void begins() {}

    @Override
    protected ClientCall.Listener<byte[]> continuationListener() {
      throw new AssertionError("several units");
    }

    @Override
    protected void continued(ClientCall<byte[], byte[]> other) {
      throw new AssertionError("several units");
    }

    @Override
    protected void ended() {
      ended = true;
    }

    @Override
    protected void answered(byte[] answer, int answerOffset, int answerLength) {
      array = answer;
      offset = answerOffset;
      length = answerLength;
      onAnswer.run();
    }

    @Override
    protected void failed(Status status, Metadata trailers) {
      throw new AssertionError(status);
    }

    @Override
    protected void unsent(byte[] request, long remainingNs) {
      throw new AssertionError("not sent");
    }
  }

  private static final class Nothing implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      return new byte[0];
    }
  }
}
