package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.util.TransmitStatusRuntimeExceptionInterceptor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Interceptors of both sides see every call once, in order, and may change everything. */
abstract class InterceptorContract extends TransportContract {
  private static final Context.Key<String> USER = Context.key("user");

  private final List<String> log = Collections.synchronizedList(new ArrayList<>());

  InterceptorContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private ClientInterceptor client(String name) {
    return new ClientInterceptor() {
      @Override
      public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
          MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
        log.add("new " + name);
        return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
          @Override
          public void start(Listener<RespT> listener, Metadata headers) {
            log.add("start " + name);
            headers.put(Bytes.ascii("path"), name);
            super.start(
                new SimpleForwardingClientCallListener<>(listener) {
                  @Override
                  public void onClose(Status status, Metadata trailers) {
                    log.add("close " + name);
                    super.onClose(status, trailers);
                  }
                },
                headers);
          }
        };
      }
    };
  }

  private ServerInterceptor server(String name) {
    return new ServerInterceptor() {
      @Override
      public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
          ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
        log.add("serve " + name);
        headers.put(Bytes.ascii("path"), "server " + name);
        return next.startCall(
            new SimpleForwardingServerCall<>(call) {
              @Override
              public void close(Status status, Metadata trailers) {
                log.add("answer " + name);
                trailers.put(Bytes.ascii("path"), name);
                super.close(status, trailers);
              }
            },
            headers);
      }
    };
  }

  private static List<String> path(Metadata metadata) {
    final List<String> path = new ArrayList<>();
    metadata.getAll(Bytes.ascii("path")).forEach(path::add);
    return path;
  }

  @Test
  void clientsRunFromTheLastToTheFirstOncePerCall() throws Exception {
    final Served.Handler handler = Served.digesting();
    harness.channel(builder -> builder.intercept(client("a"), client("b")));
    harness.channel(builder -> builder.intercept(List.of(client("c"))));
    start(handler);
    for (int i = 0; i < 3; i++) {
      log.clear();
      assertServes();
      assertEquals(
          List.of(
              "new c", "new b", "new a", "start c", "start b", "start a", "close a", "close b",
              "close c"),
          List.copyOf(log));
      assertEquals(List.of("c", "b", "a"), path(handler.take().headers));
    }
  }

  @Test
  void serversRunFromTheLastToTheFirstOncePerCall() throws Exception {
    final Served.Handler handler = Served.digesting();
    harness.server(builder -> builder.intercept(server("a")).intercept(server("b")));
    start(handler);
    for (int i = 0; i < 3; i++) {
      log.clear();
      final Exchange call = exchange().send(new byte[2]);
      assertEquals(2, call.response().length);
      assertEquals(List.of("serve b", "serve a", "answer a", "answer b"), List.copyOf(log));
      assertEquals(List.of("server b", "server a"), path(handler.take().headers));
      assertEquals(List.of("a", "b"), path(call.trailers()));
    }
  }

  @Test
  void aServersInterceptorsRunForTheFallbackRegistryToo() throws Exception {
    final MethodDescriptor<byte[], byte[]> late = Bytes.method("late.Service/Call");
    harness.server(
        builder ->
            builder
                .intercept(server("a"))
                .fallbackHandlerRegistry(
                    new HandlerRegistry() {
                      @Override
                      public ServerMethodDefinition<?, ?> lookupMethod(
                          String name, String authority) {
                        return name.equals(late.getFullMethodName())
                            ? ServerMethodDefinition.create(late, Bytes.digesting())
                            : null;
                      }
                    }));
    harness.start();
    final Exchange call = new Exchange(harness.channel(), late, CallOptions.DEFAULT);
    assertEquals(2, call.send(new byte[2]).response().length);
    assertEquals(List.of("serve a", "answer a"), List.copyOf(log));
  }

  @Test
  void aClientsMayChangeWhatTheCallerSees() throws Exception {
    harness.channel(
        builder ->
            builder.intercept(
                new ClientInterceptor() {
                  @Override
                  public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
                      MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
                    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
                      @Override
                      public void start(Listener<RespT> listener, Metadata headers) {
                        super.start(
                            new SimpleForwardingClientCallListener<>(listener) {
                              @Override
                              public void onHeaders(Metadata headers) {
                                headers.put(Bytes.ascii("added"), "1");
                                super.onHeaders(headers);
                              }

                              @Override
                              public void onClose(Status status, Metadata trailers) {
                                trailers.put(Bytes.ascii("added"), "2");
                                super.onClose(Status.ALREADY_EXISTS, trailers);
                              }
                            },
                            headers);
                      }
                    };
                  }
                }));
    start(Bytes.digesting());
    final Exchange call = exchange().send(new byte[1]);
    assertEquals(Status.Code.ALREADY_EXISTS, call.await().getCode());
    assertEquals("1", call.headers().get(Bytes.ascii("added")));
    assertEquals("2", call.trailers().get(Bytes.ascii("added")));
  }

  @Test
  void aClientsMayChangeTheOptions() throws Exception {
    harness.channel(
        builder ->
            builder.intercept(
                new ClientInterceptor() {
                  @Override
                  public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
                      MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
                    return next.newCall(
                        method, options.withDeadlineAfter(150, TimeUnit.MILLISECONDS));
                  }
                }));
    start(Served.hanging());
    assertEquals(Status.Code.DEADLINE_EXCEEDED, exchange().send(new byte[1]).await().getCode());
  }

  @Test
  void aServersMayChangeHeadersAndStatus() throws Exception {
    harness.server(
        builder ->
            builder.intercept(
                new ServerInterceptor() {
                  @Override
                  public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
                      ServerCall<ReqT, RespT> call,
                      Metadata headers,
                      ServerCallHandler<ReqT, RespT> next) {
                    return next.startCall(
                        new SimpleForwardingServerCall<>(call) {
                          @Override
                          public void sendHeaders(Metadata headers) {
                            headers.put(Bytes.ascii("added"), "1");
                            super.sendHeaders(headers);
                          }

                          @Override
                          public void close(Status status, Metadata trailers) {
                            super.close(Status.ALREADY_EXISTS.withDescription("changed"), trailers);
                          }
                        },
                        headers);
                  }
                }));
    start(Bytes.digesting());
    final Exchange call = exchange().send(new byte[1]);
    assertStatus(Status.Code.ALREADY_EXISTS, "changed", call.await());
    assertEquals("1", call.headers().get(Bytes.ascii("added")));
  }

  private static ServerInterceptor closing(Executor executor) {
    return new ServerInterceptor() {
      @Override
      public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
          ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
        executor.execute(
            () ->
                call.close(
                    Status.UNAUTHENTICATED.withDescription("who"), Bytes.metadata("t", "1")));
        return new ServerCall.Listener<>() {};
      }
    };
  }

  private void assertClosedEarly() throws InterruptedException {
    for (final int length : new int[] {0, 1, 100_000}) {
      final Exchange call = exchange().send(new byte[length]);
      assertStatus(Status.Code.UNAUTHENTICATED, "who", call.await());
      assertEquals("1", call.trailers().get(Bytes.ascii("t")));
      assertEquals(List.of("close"), call.events());
    }
  }

  @Test
  void aServersMayCloseEarly() throws Exception {
    final Served.Handler handler = Served.digesting();
    harness.server(builder -> builder.intercept(closing(Runnable::run)));
    start(handler);
    assertClosedEarly();
    assertEquals(0, handler.waiting());
  }

  @Test
  void aServersMayCloseEarlyFromAnotherThread() throws Exception {
    final Served.Handler handler = Served.digesting();
    final ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      harness.server(builder -> builder.intercept(closing(executor)));
      start(handler);
      assertClosedEarly();
      assertEquals(0, handler.waiting());
    } finally {
      executor.shutdown();
    }
  }

  @Test
  void aServersMayStartTheHandlerLater() throws Exception {
    final ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      harness.server(builder -> builder.intercept(new DelayingInterceptor(executor)));
      start(Bytes.digesting());
      for (int i = 0; i < 50; i++) {
        assertEquals(i, exchange().send(new byte[i]).response().length);
      }
    } finally {
      executor.shutdown();
    }
  }

  @Test
  void aServersContextReachesTheHandler() throws Exception {
    final List<String> users = Collections.synchronizedList(new ArrayList<>());
    harness.server(
        builder ->
            builder.intercept(
                new ServerInterceptor() {
                  @Override
                  public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
                      ServerCall<ReqT, RespT> call,
                      Metadata headers,
                      ServerCallHandler<ReqT, RespT> next) {
                    final String user = headers.get(Bytes.ascii("user"));
                    return Contexts.interceptCall(
                        Context.current().withValue(USER, user), call, headers, next);
                  }
                }));
    start(
        Bytes.answering(
            request -> {
              users.add(USER.get());
              return request;
            }));
    exchange().send(Bytes.metadata("user", "ann"), new byte[1]).response();
    exchange().send(Bytes.metadata("user", "bob"), new byte[1]).response();
    assertEquals(List.of("ann", "bob"), users);
    assertNull(USER.get());
  }

  @Test
  void aStatusThatIsThrownMayBeTransmitted() throws Exception {
    harness.server(
        builder -> builder.intercept(TransmitStatusRuntimeExceptionInterceptor.instance()));
    start(
        new Served.Handler(
            served -> {
              throw Status.NOT_FOUND
                  .withDescription("none")
                  .asRuntimeException(Bytes.metadata("t", "1"));
            }));
    final Exchange call = exchange().send(new byte[1]);
    assertStatus(Status.Code.NOT_FOUND, "none", call.await());
    assertEquals("1", call.trailers().get(Bytes.ascii("t")));
  }

  /** Decides in another thread, as one that asks a database does; keeps events meanwhile. */
  private static final class DelayingInterceptor implements ServerInterceptor {
    private final ExecutorService executor;

    DelayingInterceptor(ExecutorService executor) {
      this.executor = executor;
    }

    @Override
    public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
        ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
      final Delayed<ReqT> delayed = new Delayed<>();
      executor.execute(() -> delayed.open(next.startCall(call, headers)));
      return delayed;
    }
  }

  private static final class Delayed<ReqT> extends ServerCall.Listener<ReqT> {
    private final List<Runnable> events = new ArrayList<>();
    private ServerCall.Listener<ReqT> listener;

    synchronized void open(ServerCall.Listener<ReqT> opened) {
      listener = opened;
      events.forEach(Runnable::run);
      events.clear();
    }

    private synchronized void tell(Runnable event) {
      if (listener == null) {
        events.add(event);
      } else {
        event.run();
      }
    }

    @Override
    public void onMessage(ReqT message) {
      tell(() -> listener.onMessage(message));
    }

    @Override
    public void onHalfClose() {
      tell(() -> listener.onHalfClose());
    }

    @Override
    public void onCancel() {
      tell(() -> listener.onCancel());
    }

    @Override
    public void onComplete() {
      tell(() -> listener.onComplete());
    }
  }
}
