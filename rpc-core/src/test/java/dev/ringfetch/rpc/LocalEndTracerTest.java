package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ringfetch.v1.OpenRequest;
import dev.ringfetch.v1.OpenResponse;
import dev.ringfetch.v1.SessionServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Calls that end before they have a stream, because a ring is required: what tracers are told. */
final class LocalEndTracerTest extends RingFixture {
  private static final MethodDescriptor<byte[], byte[]> UNKNOWN = Bytes.method("no.Service/Call");

  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();

  private CallOptions traced() {
    return CallOptions.DEFAULT.withStreamTracerFactory(
        new ClientStreamTracer.Factory() {
          @Override
          public ClientStreamTracer newClientStreamTracer(
              ClientStreamTracer.StreamInfo info, Metadata headers) {
            return new ClientStreamTracer() {
              @Override
              public void streamClosed(Status status) {
                told.add(status.getCode() + " " + headers.get(Bytes.ascii("own")));
              }
            };
          }
        });
  }

  private void assertTold(Status.Code code) throws InterruptedException {
    assertEquals(code + " header", told.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertNull(told.poll(), "nothing more is told");
  }

  private Exchange send(RingChannel channel, MethodDescriptor<byte[], byte[]> method, CallOptions o)
      throws Exception {
    return new Exchange(channel, method, o).send(Bytes.metadata("own", "header"), new byte[1]);
  }

  private void assertEnds(Status.Code code, Exchange exchange) throws Exception {
    assertEquals(code, exchange.await().getCode());
    assertTold(code);
  }

  @Test
  void aMethodThatNoServerHas() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(builder().requireFabric());
    assertEnds(Status.Code.UNIMPLEMENTED, send(channel, UNKNOWN, traced()));
  }

  @Test
  void aRingThatCannotBe() throws Exception {
    serve(ServerBuilder.forPort(0).addService(service(Bytes.digesting())).build().start());
    final RingChannel channel = build(builder().requireFabric());
    assertEnds(Status.Code.UNAVAILABLE, send(channel, Bytes.METHOD, traced()));
    channel.shutdown();
    assertEquals(Status.Code.UNAVAILABLE, send(channel, Bytes.METHOD, traced()).await().getCode());
    assertNull(told.poll(), "gRPC tells nothing of a call that begins after the shutdown");
  }

  @Test
  void aWaitForARingThatEnds() throws Exception {
    serve(
        ServerBuilder.forPort(0)
            .addService(service(Bytes.digesting()))
            .addService(
                new SessionServiceGrpc.SessionServiceImplBase() {
                  @Override
                  public StreamObserver<OpenRequest> open(StreamObserver<OpenResponse> responses) {
                    return new Silent();
                  }
                })
            .build()
            .start());
    final RingChannel channel = build(builder().requireFabric());
    assertEnds(
        Status.Code.DEADLINE_EXCEEDED,
        send(channel, Bytes.METHOD, traced().withDeadlineAfter(20, TimeUnit.MILLISECONDS)));
    final Exchange cancelled = send(channel, Bytes.METHOD, traced());
    cancelled.call().cancel("enough", null);
    assertEnds(Status.Code.CANCELLED, cancelled);
    final Exchange ended = send(channel, Bytes.METHOD, traced());
    channel.shutdownNow();
    assertEnds(Status.Code.UNAVAILABLE, ended);
  }

  @Test
  void aTracerThatCannotBeMadeKeepsNoCallWaiting() throws Exception {
    serve(ServerBuilder.forPort(0).addService(service(Bytes.digesting())).build().start());
    final CallOptions failing =
        CallOptions.DEFAULT.withStreamTracerFactory(
            new ClientStreamTracer.Factory() {
              @Override
              public ClientStreamTracer newClientStreamTracer(
                  ClientStreamTracer.StreamInfo info, Metadata headers) {
                throw new IllegalStateException("as the test wants");
              }
            });
    final RingChannel channel = build(builder().requireFabric());
    assertEquals(Status.Code.UNAVAILABLE, send(channel, Bytes.METHOD, failing).await().getCode());
  }
}
