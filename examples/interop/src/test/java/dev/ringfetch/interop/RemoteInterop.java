package dev.ringfetch.interop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import io.grpc.testing.integration.Messages.SimpleRequest;
import io.grpc.testing.integration.TestServiceGrpc.TestServiceBlockingStub;
import io.opencensus.trace.Span;
import io.opencensus.trace.Tracing;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.Test;

/**
 * A ring to a server in another process, {@link InteropServer}. It has two cases more than the
 * suite, in place of those that the suite leaves out without a server of its own.
 */
public final class RemoteInterop extends ChannelInterop {
  /** The server's port; set by the caller of the cases. */
  static int serverPort;

  @Override
  int port() {
    return serverPort;
  }

  @Override
  RingChannelBuilder options(RingChannelBuilder builder) {
    return onRing(builder);
  }

  @Override
  protected ManagedChannel createChannel() {
    return connected(super.createChannel());
  }

  @Override
  void verify(long ringCalls, long grpcCalls) {
    verifyOnRing(ringCalls, grpcCalls);
  }

  private Metadata trailers(UnaryOperator<TestServiceBlockingStub> options) {
    final AtomicReference<Metadata> trailers = new AtomicReference<>();
    options
        .apply(blockingStub)
        .withInterceptors(
            MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers))
        .unaryCall(SimpleRequest.getDefaultInstance());
    return trailers.get();
  }

  /** As {@code sendsTimeoutHeader}. */
  @Test
  public void timeoutHeaderReachesTheServer() {
    final long seconds = 3600;
    final Metadata seen = trailers(stub -> stub.withDeadlineAfter(seconds, TimeUnit.SECONDS));
    final String timeout = seen.get(InteropServer.SEEN_TIMEOUT);
    assertNotNull("no grpc-timeout", timeout);
    final long leftMs = Long.parseLong(seen.get(InteropServer.SEEN_DEADLINE_MS));
    assertTrue(timeout + " " + leftMs, leftMs > 0 && leftMs <= TimeUnit.SECONDS.toMillis(seconds));
    final Metadata without = trailers(stub -> stub);
    assertFalse(without.containsKey(InteropServer.SEEN_TIMEOUT));
    assertFalse(without.containsKey(InteropServer.SEEN_DEADLINE_MS));
  }

  /** As {@code censusContextsPropagated}. */
  @SuppressWarnings("deprecation") // as the suite itself
  @Test
  public void censusContextReachesTheServer() throws Exception {
    final Span parent = Tracing.getTracer().spanBuilder("Test.interopTest").startSpan();
    assertTrue("no census that works", parent.getContext().getTraceId().isValid());
    final Metadata seen =
        io.opencensus.trace.unsafe.ContextUtils.withValue(Context.ROOT, parent)
            .call(() -> trailers(stub -> stub));
    assertEquals(
        parent.getContext().getTraceId().toLowerBase16(), seen.get(InteropServer.SEEN_TRACE));
    parent.end();
  }
}
