package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.SecurityLevel;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What both sides are told of each other, over plaintext, TLS and mutual TLS. */
@Timeout(60)
abstract class SecurityContract extends TransportContract {
  private static final MethodDescriptor<byte[], byte[]> STREAM =
      Bytes.method(Bytes.SERVICE + "/Stream", MethodType.BIDI_STREAMING);

  private final BlockingQueue<Seen> seen = new LinkedBlockingQueue<>();

  SecurityContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  /** What an interceptor sees of a call's client. */
  private record Seen(Attributes attributes, SecurityLevel level) {
    SSLSession tls() {
      return attributes.get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
    }

    String principal() throws SSLPeerUnverifiedException {
      return tls().getPeerPrincipal().getName();
    }
  }

  private final class Recorder implements ServerInterceptor {
    @Override
    public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
        ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
      seen.add(new Seen(call.getAttributes(), call.getSecurityLevel()));
      return next.startCall(call, headers);
    }
  }

  private void start() throws Exception {
    harness.server(builder -> builder.intercept(new Recorder()));
    harness.handle(STREAM, Served.digesting());
    start(Bytes.digesting());
  }

  private Seen take() throws InterruptedException {
    final Seen taken = seen.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    assertNotNull(taken, "no call has come");
    return taken;
  }

  /** Makes a call of each kind; what is seen must not depend on it. */
  private List<Seen> callAndTake(ManagedChannel channel) throws InterruptedException {
    final List<Seen> taken = new ArrayList<>();
    for (final MethodDescriptor<byte[], byte[]> method : List.of(Bytes.METHOD, STREAM)) {
      final Exchange exchange = new Exchange(channel, method, CallOptions.DEFAULT);
      assertEquals(5, exchange.send(new byte[5]).response().length);
      taken.add(take());
    }
    return taken;
  }

  @Test
  void interceptorsSeeWhereACallComesFrom() throws Exception {
    start();
    for (final Seen call : callAndTake(harness.channel())) {
      assertNull(call.tls());
      assertEquals(SecurityLevel.NONE, call.level());
      final Attributes attributes = call.attributes();
      assertEquals(harness.fabric(), attributes.get(Transport.TRANSPORT_ATTR_FABRIC));
      final InetSocketAddress remote =
          (InetSocketAddress) attributes.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
      assertTrue(remote.getAddress().isLoopbackAddress(), remote::toString);
      final InetSocketAddress local =
          (InetSocketAddress) attributes.get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR);
      assertEquals(harness.server().getPort(), local.getPort());
    }
  }

  @Test
  void aClientSeesWhereItsCallsGo() throws Exception {
    start();
    for (final MethodDescriptor<byte[], byte[]> method : List.of(Bytes.METHOD, STREAM)) {
      final Exchange exchange = new Exchange(harness.channel(), method, CallOptions.DEFAULT);
      assertEquals(1, exchange.send(new byte[1]).response().length);
      final Attributes attributes = exchange.call().getAttributes();
      final InetSocketAddress remote =
          (InetSocketAddress) attributes.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
      assertEquals(harness.server().getPort(), remote.getPort());
      assertNotNull(attributes.get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR));
      assertNull(attributes.get(Grpc.TRANSPORT_ATTR_SSL_SESSION));
      assertEquals(harness.fabric(), attributes.get(Transport.TRANSPORT_ATTR_FABRIC));
    }
  }

  @Test
  void underTlsTheConnectionIsPrivateAndTheClientNobody() throws Exception {
    harness.secure(Tls.server(), Tls.client());
    start();
    for (final Seen call : callAndTake(harness.channel())) {
      assertEquals(harness.securityLevel(), call.level());
      assertThrows(SSLPeerUnverifiedException.class, call::principal);
    }
  }

  @Test
  void underMutualTlsInterceptorsSeeWhoTheClientIs() throws Exception {
    harness.secure(Tls.mutual(), Tls.client("ann"));
    start();
    for (final Seen call : callAndTake(harness.channel())) {
      assertEquals(harness.securityLevel(), call.level());
      assertEquals("CN=ann", call.principal());
      assertEquals(harness.fabric(), call.attributes().get(Transport.TRANSPORT_ATTR_FABRIC));
    }
  }

  @Test
  void aClientSeesWhoTheServerIs() throws Exception {
    harness.secure(Tls.server(), Tls.client());
    start();
    for (final MethodDescriptor<byte[], byte[]> method : List.of(Bytes.METHOD, STREAM)) {
      final Exchange exchange = new Exchange(harness.channel(), method, CallOptions.DEFAULT);
      assertEquals(1, exchange.send(new byte[1]).response().length);
      final Attributes attributes = exchange.call().getAttributes();
      assertEquals(
          "CN=server",
          attributes.get(Grpc.TRANSPORT_ATTR_SSL_SESSION).getPeerPrincipal().getName());
      assertEquals(harness.fabric(), attributes.get(Transport.TRANSPORT_ATTR_FABRIC));
    }
  }

  @Test
  void channelsOfOneProcessKeepTheirIdentities() throws Exception {
    harness.secure(Tls.mutual(), Tls.client("ann"));
    start();
    final ManagedChannel bob = harness.connect(Tls.client("bob"));
    try {
      for (int i = 0; i < 5; i++) {
        for (final Seen call : callAndTake(harness.channel())) {
          assertEquals("CN=ann", call.principal());
        }
        for (final Seen call : callAndTake(bob)) {
          assertEquals("CN=bob", call.principal());
        }
      }
      harness.verify(bob);
    } finally {
      bob.shutdownNow();
      assertTrue(bob.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
  }
}
