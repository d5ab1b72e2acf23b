package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.ChoiceChannelCredentials;
import io.grpc.CompositeChannelCredentials;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that asks for a token with every call, and channels and calls that have one. */
@Timeout(60)
abstract class TokenContract extends TransportContract {
  private static final Metadata.Key<String> AUTHORIZATION = Bytes.ascii("authorization");

  private final List<String> tokens = Collections.synchronizedList(new ArrayList<>());

  private SecurityLevel required = SecurityLevel.PRIVACY_AND_INTEGRITY;

  TokenContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  /** A token that is told where calls are as private as can be, and nowhere else. */
  private final class Bearer extends CallCredentials {
    private final AtomicInteger applied = new AtomicInteger();
    private final String token;

    Bearer(String token) {
      this.token = token;
    }

    @Override
    public void applyRequestMetadata(
        RequestInfo request, Executor executor, MetadataApplier applier) {
      applied.incrementAndGet();
      if (request.getSecurityLevel() == required) {
        applier.apply(Bytes.metadata(AUTHORIZATION.name(), token));
      } else {
        applier.fail(Status.UNAUTHENTICATED.withDescription("the token is not for everybody"));
      }
    }
  }

  private final class Doorman implements ServerInterceptor {
    @Override
    public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
        ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
      final Iterable<String> shown = headers.getAll(AUTHORIZATION);
      if (shown == null) {
        call.close(Status.UNAUTHENTICATED.withDescription("no token"), new Metadata());
        return new ServerCall.Listener<>() {};
      }
      tokens.add(String.join(" ", shown));
      return next.startCall(call, headers);
    }
  }

  /** Any client can connect to the server; each call has to show a token. */
  private void start(ChannelCredentials credentials) throws Exception {
    harness.secure(Tls.server(), credentials);
    required = harness.securityLevel();
    harness.server(builder -> builder.intercept(new Doorman()));
    start(Bytes.digesting());
  }

  private static CallOptions with(CallCredentials credentials) {
    return CallOptions.DEFAULT.withCallCredentials(credentials);
  }

  @Test
  void aCallWithoutTokenIsTurnedAway() throws Exception {
    start(Tls.client());
    assertStatus(Status.Code.UNAUTHENTICATED, "no token", exchange().send(new byte[3]).await());
    assertEquals(3, exchange(with(new Bearer("ann"))).send(new byte[3]).response().length);
    assertStatus(Status.Code.UNAUTHENTICATED, "no token", exchange().send(new byte[3]).await());
    assertEquals(List.of("ann"), tokens);
  }

  @Test
  void aChannelsTokenGoesWithEachOfItsCalls() throws Exception {
    final Bearer channels = new Bearer("ann");
    start(CompositeChannelCredentials.create(Tls.client(), channels));
    for (int i = 0; i < 3; i++) {
      assertEquals(3, exchange().send(new byte[3]).response().length);
    }
    assertEquals(List.of("ann", "ann", "ann"), tokens);
    assertEquals(3, channels.applied.get(), "the handshake has none");
  }

  @Test
  void aCallsTokenComesAfterItsChannels() throws Exception {
    start(
        CompositeChannelCredentials.create(
            CompositeChannelCredentials.create(Tls.client(), new Bearer("inner")),
            new Bearer("outer")));
    assertEquals(3, exchange(with(new Bearer("own"))).send(new byte[3]).response().length);
    assertEquals(List.of("inner outer own"), tokens);
  }

  @Test
  void ofChoicesTheFirstIsTaken() throws Exception {
    start(
        ChoiceChannelCredentials.create(
            CompositeChannelCredentials.create(Tls.client(), new Bearer("first")),
            CompositeChannelCredentials.create(Tls.client(), new Bearer("second"))));
    assertEquals(3, exchange().send(new byte[3]).response().length);
    assertEquals(List.of("first"), tokens);
  }

  @Test
  void aTokenIsNotToldOnAPlaintextConnection() throws Exception {
    harness.server(builder -> builder.intercept(new Doorman()));
    start(Bytes.digesting());
    assertStatus(
        Status.Code.UNAUTHENTICATED,
        "not for everybody",
        exchange(with(new Bearer("ann"))).send(new byte[3]).await());
    assertStatus(Status.Code.UNAUTHENTICATED, "no token", exchange().send(new byte[3]).await());
    assertEquals(List.of(), tokens);
  }
}
