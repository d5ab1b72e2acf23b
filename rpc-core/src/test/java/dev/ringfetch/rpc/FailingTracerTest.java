package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a tracer throws while a call goes on or ends is not the call's: both sides hear its end. */
@Timeout(60)
final class FailingTracerTest extends TransportContract {
  FailingTracerTest() {
    super(RingHarness::new);
  }

  private static RuntimeException failure() {
    return new IllegalStateException("as the test wants");
  }

  @Test
  void callsEndAsTheyShouldWhateverTheClientsTracersThrow() throws Exception {
    start(Served.digesting());
    final CallOptions options =
        CallOptions.DEFAULT.withStreamTracerFactory(
            new ClientStreamTracer.Factory() {
              @Override
              public ClientStreamTracer newClientStreamTracer(
                  ClientStreamTracer.StreamInfo info, Metadata headers) {
                return new FailingAtClient();
              }
            });
    assertEquals(3, exchange(options).send(new byte[3]).response().length);
    assertServes();
  }

  @Test
  void callsEndAsTheyShouldWhateverTheServersTracersThrow() throws Exception {
    harness.server(
        builder ->
            builder.addStreamTracerFactory(
                new ServerStreamTracer.Factory() {
                  @Override
                  public ServerStreamTracer newServerStreamTracer(String name, Metadata headers) {
                    return new FailingAtServer();
                  }
                }));
    start(
        new Served.Handler(
            served -> {
              if (served.request().length == 1) {
                served.call.close(Status.ABORTED, new Metadata());
              } else {
                served.call.sendHeaders(new Metadata());
                served.call.sendMessage(served.request());
                served.call.close(Status.OK, new Metadata());
              }
            }));
    assertEquals(3, exchange().send(new byte[3]).response().length);
    assertEquals(Status.Code.ABORTED, exchange().send(new byte[1]).await().getCode());
  }

  private static final class FailingAtClient extends ClientStreamTracer {
    @Override
    public void outboundHeaders() {
      throw failure();
    }

    @Override
    public void outboundMessage(int number) {
      throw failure();
    }

    @Override
    public void inboundHeaders(Metadata headers) {
      throw failure();
    }

    @Override
    public void inboundMessage(int number) {
      throw failure();
    }

    @Override
    public void inboundTrailers(Metadata trailers) {
      throw failure();
    }

    @Override
    public void streamClosed(Status status) {
      throw failure();
    }
  }

  private static final class FailingAtServer extends ServerStreamTracer {
    @Override
    public void serverCallStarted(ServerCallInfo<?, ?> info) {
      throw failure();
    }

    @Override
    public void inboundMessage(int number) {
      throw failure();
    }

    @Override
    public void outboundMessage(int number) {
      throw failure();
    }

    @Override
    public void streamClosed(Status status) {
      throw failure();
    }
  }
}
