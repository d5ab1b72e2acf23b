package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What tracers of both sides are told of a call, and what they may add to it. */
@Timeout(60)
abstract class TracerContract extends TransportContract {
  private static final Metadata.Key<String> EARLY = Bytes.ascii("early");
  private static final Metadata.Key<String> CREATED = Bytes.ascii("created");
  private static final Context.Key<String> FOUND = Context.key("found");

  TracerContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  /** Options with tracers that are made of the headers of their call. */
  private static CallOptions traced(Function<Metadata, ClientStreamTracer> factory) {
    return CallOptions.DEFAULT.withStreamTracerFactory(
        new ClientStreamTracer.Factory() {
          @Override
          public ClientStreamTracer newClientStreamTracer(
              ClientStreamTracer.StreamInfo info, Metadata headers) {
            return factory.apply(headers);
          }
        });
  }

  /** Has a server make tracers of the name and headers of each call. */
  private void traceServer(BiFunction<String, Metadata, ServerStreamTracer> factory) {
    harness.server(
        builder ->
            builder.addStreamTracerFactory(
                new ServerStreamTracer.Factory() {
                  @Override
                  public ServerStreamTracer newServerStreamTracer(String name, Metadata headers) {
                    return factory.apply(name, headers);
                  }
                }));
  }

  /** As those of census do that carry a trace over to the server. */
  @Test
  void headersThatTracersAddReachTheServerAndNotTheCaller() throws Exception {
    final Served.Handler handler = Served.digesting();
    final AtomicReference<Attributes> attributes = new AtomicReference<>();
    start(handler);
    final Metadata own = Bytes.metadata("own", "header");
    final Exchange exchange =
        exchange(
                traced(
                    headers -> {
                      headers.put(EARLY, "1");
                      return new ClientStreamTracer() {
                        @Override
                        public void streamCreated(Attributes transport, Metadata headers) {
                          attributes.set(transport);
                          headers.put(CREATED, "2");
                        }
                      };
                    }))
            .send(own, new byte[1]);
    assertEquals(1, exchange.response().length);
    final Metadata headers = handler.take().headers;
    assertEquals("header", headers.get(Bytes.ascii("own")));
    assertEquals("1", headers.get(EARLY));
    assertEquals("2", headers.get(CREATED));
    assertFalse(own.containsKey(EARLY));
    assertFalse(own.containsKey(CREATED));
    assertNotNull(attributes.get().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
  }

  @Test
  void aServersTracersSeeTheHeadersAndMakeTheContext() throws Exception {
    final Served.Handler handler = Served.digesting();
    final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    traceServer(
        (name, headers) -> {
          final String own = headers.get(Bytes.ascii("own"));
          return new ServerStreamTracer() {
            @Override
            public Context filterContext(Context context) {
              return context.withValue(FOUND, name + " " + own);
            }

            @Override
            public void streamClosed(Status status) {
              told.add("closed " + status.getCode());
            }
          };
        });
    start(handler);
    exchange().send(Bytes.metadata("own", "header"), new byte[1]).response();
    assertEquals(Bytes.METHOD.getFullMethodName() + " header", FOUND.get(handler.take().context));
    assertEquals("closed OK", told.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertNull(told.poll(), "closed once");
  }

  /** Writes down what it is told. */
  private static final class Recording extends ClientStreamTracer {
    private final BlockingQueue<String> told;

    Recording(BlockingQueue<String> told) {
      this.told = told;
    }

    @Override
    public void streamClosed(Status status) {
      told.add("closed " + status.getCode());
    }
  }

  private static CallOptions recorded(BlockingQueue<String> told) {
    return traced(
        headers -> {
          told.add("made");
          return new Recording(told);
        });
  }

  private static void assertTold(BlockingQueue<String> told, String... expected)
      throws InterruptedException {
    for (final String event : expected) {
      assertEquals(event, told.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
    assertNull(told.poll(), "nothing more is told");
  }

  @Test
  void bothSidesAreToldOfAnUnknownMethod() throws Exception {
    final BlockingQueue<String> atClient = new LinkedBlockingQueue<>();
    final BlockingQueue<String> atServer = new LinkedBlockingQueue<>();
    traceServer((name, headers) -> new Ends(atServer));
    start(Bytes.digesting());
    final Exchange unknown =
        new Exchange(harness.channel(), Bytes.method("no.Service/Call"), recorded(atClient));
    assertEquals(Status.Code.UNIMPLEMENTED, unknown.send(new byte[1]).await().getCode());
    assertTold(atClient, "made", "closed UNIMPLEMENTED");
    assertTold(atServer, "closed UNIMPLEMENTED");
  }

  @Test
  void bothSidesAreToldAnEndThatIsNotGood() throws Exception {
    final BlockingQueue<String> atClient = new LinkedBlockingQueue<>();
    final BlockingQueue<String> atServer = new LinkedBlockingQueue<>();
    traceServer((name, headers) -> new Ends(atServer));
    final Served.Handler handler =
        new Served.Handler(
            served -> {
              if (served.request().length == 1) {
                served.call.close(Status.ABORTED, new Metadata());
              }
            });
    start(handler);
    final Exchange aborted = exchange(recorded(atClient)).send(new byte[1]);
    assertEquals(Status.Code.ABORTED, aborted.await().getCode());
    assertTold(atClient, "made", "closed ABORTED");
    assertTold(atServer, "closed ABORTED");
    handler.take();
    final Exchange cancelled = exchange(recorded(atClient)).send(new byte[2]);
    handler.take().awaitHalfClose();
    cancelled.call().cancel("enough", null);
    assertEquals(Status.Code.CANCELLED, cancelled.await().getCode());
    assertTold(atClient, "made", "closed CANCELLED");
    assertTold(atServer, "closed CANCELLED");
  }

  @Test
  void aCallThatStartsTooLateHasATracerAndACancelledOneNone() throws Exception {
    start(Served.digesting());
    final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    final CallOptions late = recorded(told).withDeadlineAfter(-1, TimeUnit.SECONDS);
    assertEquals(Status.Code.DEADLINE_EXCEEDED, exchange(late).send(new byte[1]).await().getCode());
    assertTold(told, "made", "closed DEADLINE_EXCEEDED");
    final Context.CancellableContext context = Context.current().withCancellation();
    context.cancel(null);
    final Exchange[] call = new Exchange[1];
    context.run(() -> call[0] = exchange(recorded(told)).send(new byte[1]));
    assertEquals(Status.Code.CANCELLED, call[0].await().getCode());
    assertTold(told);
    assertServes();
  }

  @Test
  void messagesAreCountedAtTheServer() throws Exception {
    final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    traceServer((name, headers) -> new Counting(told));
    start(Served.digesting());
    exchange().send(Bytes.random(1, 100)).response();
    assertTold(
        told,
        "started " + Bytes.METHOD.getFullMethodName(),
        "in 0",
        "bytes in 100",
        "out 0",
        "bytes out 100",
        "closed OK");
  }

  /** At a server, where one thing comes after the other. */
  private static final class Counting extends Ends {
    Counting(BlockingQueue<String> told) {
      super(told);
    }

    @Override
    public void serverCallStarted(ServerCallInfo<?, ?> info) {
      told.add("started " + info.getMethodDescriptor().getFullMethodName());
    }

    @Override
    public void inboundMessage(int number) {
      told.add("in " + number);
    }

    @Override
    public void inboundUncompressedSize(long bytes) {
      told.add("bytes in " + bytes);
    }

    @Override
    public void outboundMessage(int number) {
      told.add("out " + number);
    }

    @Override
    public void outboundUncompressedSize(long bytes) {
      told.add("bytes out " + bytes);
    }
  }

  /** The stub that calls hears of it; nothing of the call is left over. */
  @Test
  void aTracerThatCannotBeMadeFailsItsCallOnly() throws Exception {
    start(Served.digesting());
    final IllegalStateException thrown = new IllegalStateException("as the test wants");
    final CallOptions options =
        traced(
            headers -> {
              throw thrown;
            });
    for (int i = 0; i < 20_000; i++) { // more than there are streams on a ring
      assertSame(
          thrown, assertThrows(IllegalStateException.class, () -> exchange(options).start()));
    }
    assertServes();
  }

  @Test
  void messagesAreCountedAndTheEndIsToldOnce() throws Exception {
    start(Served.digesting());
    final List<String> events = new CopyOnWriteArrayList<>();
    final CountDownLatch closed = new CountDownLatch(1);
    exchange(
            traced(
                headers ->
                    new ClientStreamTracer() {
                      @Override
                      public void outboundHeaders() {
                        events.add("headers out");
                      }

                      @Override
                      public void outboundMessage(int number) {
                        events.add("out " + number);
                      }

                      @Override
                      public void inboundHeaders() {
                        events.add("headers in");
                      }

                      @Override
                      public void inboundMessage(int number) {
                        events.add("in " + number);
                      }

                      @Override
                      public void outboundUncompressedSize(long bytes) {
                        events.add("bytes out " + bytes);
                      }

                      @Override
                      public void inboundUncompressedSize(long bytes) {
                        events.add("bytes in " + bytes);
                      }

                      @Override
                      public void streamClosed(Status status) {
                        events.add("closed " + status.getCode());
                        closed.countDown();
                      }
                    }))
        .send(Bytes.random(1, 100))
        .response();
    assertTrue(
        closed.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), () -> "no end: " + events);
    assertEquals(
        List.of(
            "bytes in 100",
            "bytes out 100",
            "closed OK",
            "headers in",
            "headers out",
            "in 0",
            "out 0"),
        events.stream().sorted().toList());
    assertEquals("closed OK", events.get(events.size() - 1));
  }

  /** Says how calls have ended at the server. */
  private static class Ends extends ServerStreamTracer {
    final BlockingQueue<String> told;

    Ends(BlockingQueue<String> told) {
      this.told = told;
    }

    @Override
    public void streamClosed(Status status) {
      told.add("closed " + status.getCode());
    }
  }
}
