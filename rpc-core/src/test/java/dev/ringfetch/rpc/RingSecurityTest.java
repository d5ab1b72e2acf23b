package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.protocol.Answer;
import dev.ringfetch.protocol.OpenResponse;
import io.grpc.Attributes;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsServerCredentials.ClientAuth;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whom a server or a client does not know gets no ring; and how long filters know a connection. */
@Timeout(60)
final class RingSecurityTest extends RingFixture {
  private final Served.Handler handler = Served.digesting();

  /** Two that do not get on. */
  record Strangers(String name, ServerCredentials server, ChannelCredentials client) {
    @Override
    public String toString() {
      return name;
    }
  }

  static List<Strangers> strangers() {
    final Authority other = new Authority("other");
    return List.of(
        new Strangers("the client trusts another authority", Tls.server(), Tls.trusting(other)),
        new Strangers(
            "the server is another authority's",
            Tls.server(other.issue("server"), ClientAuth.NONE),
            Tls.client()),
        new Strangers(
            "the server's time is over",
            Tls.server(Tls.AUTHORITY.issueExpired("server"), ClientAuth.NONE),
            Tls.client()),
        new Strangers("the client has no certificate", Tls.mutual(), Tls.client()),
        new Strangers(
            "the client is another authority's", Tls.mutual(), Tls.client(other.issue("ann"))),
        new Strangers(
            "the client's time is over",
            Tls.mutual(),
            Tls.client(Tls.AUTHORITY.issueExpired("ann"))),
        new Strangers(
            "the client speaks plaintext", Tls.server(), InsecureChannelCredentials.create()));
  }

  private static Status failure(ManagedChannel channel) {
    return assertThrows(
            StatusRuntimeException.class,
            () ->
                ClientCalls.blockingUnaryCall(
                    channel, Bytes.METHOD, CallOptions.DEFAULT, new byte[9]))
        .getStatus();
  }

  /** Memory of sessions: not the counters, which a thread of their own puts there in time. */
  private Set<Path> files() throws Exception {
    try (Stream<Path> tree = Files.walk(directory)) {
      return tree.filter(Files::isRegularFile)
          .filter(file -> !file.endsWith("counters") && !file.toString().endsWith(".lock"))
          .collect(Collectors.toSet());
    }
  }

  private RingChannelBuilder builder(RingServer server, ChannelCredentials credentials) {
    return RingChannelBuilder.newChannelBuilder("localhost:" + server.getPort(), credentials)
        .shmDirectory(directory)
        .spinTime(Duration.ZERO);
  }

  @ParameterizedTest
  @MethodSource("strangers")
  void strangersGetNoRing(Strangers strangers) throws Exception {
    final RingServer server =
        RingServerBuilder.newServerBuilderForPort(0, strangers.server())
            .shmDirectory(directory)
            .spinTime(Duration.ZERO)
            .addService(service(handler))
            .build()
            .start();
    serve(server);
    final RingChannel channel = build(builder(server, strangers.client()));
    final RingChannel strict = build(builder(server, strangers.client()).requireFabric());
    final Set<Path> before = files();
    final ManagedChannel plain =
        Grpc.newChannelBuilder("localhost:" + server.getPort(), strangers.client()).build();
    final Status.Code expected;
    try {
      expected = failure(plain).getCode();
    } finally {
      plain.shutdownNow();
    }
    assertEquals(Status.Code.UNAVAILABLE, expected);
    assertEquals(expected, failure(channel).getCode());
    final Status ofStrict = failure(strict);
    TransportContract.assertStatus(expected, "no ring: handshake: UNAVAILABLE", ofStrict);
    assertEquals(Transport.NONE, strict.transport().name());
    assertEquals(0, channel.ringCalls() + strict.ringCalls() + strict.grpcCalls());
    assertEquals(0, server.sessionCount());
    assertEquals(0, handler.waiting());
    assertEquals(before, files());
  }

  /** What only the channel's connection has been told is of no use to anybody any more. */
  @Test
  void aTokenIsGoodForItsSessionAlone() throws Exception {
    final RingServer server =
        RingServerBuilder.newServerBuilderForPort(0, Tls.mutual())
            .shmDirectory(directory)
            .spinTime(Duration.ZERO)
            .addService(service(handler))
            .build()
            .start();
    serve(server);
    final AtomicReference<Answer> told = new AtomicReference<>();
    final RingChannel ann =
        connect(
            RingChannelBuilder.over(
                    Grpc.newChannelBuilder("localhost:" + server.getPort(), Tls.client("ann"))
                        .intercept(onSessions(new AnswerRecorder(told))),
                    "test")
                .shmDirectory(directory)
                .spinTime(Duration.ZERO));
    final Answer answer = told.get();
    final byte[] descriptor = answer.get(Answer.FABRIC_DESCRIPTOR);
    final byte[] other = answer.get(Answer.TOKEN).clone();
    other[0]++;
    final FabricProvider provider =
        ServiceLoader.load(FabricProvider.class).findFirst().orElseThrow();
    try (Fabric fabric = provider.open(new FabricContext().directory(directory));
        Doorbell doorbell = fabric.openDoorbell()) {
      for (final byte[] token : List.of(answer.get(Answer.TOKEN), other)) {
        assertThrows(
            IOException.class,
            () -> fabric.connect(doorbell, descriptor, token, TimeUnit.SECONDS.toNanos(5)));
      }
    }
    assertEquals(1, server.sessionCount());
    assertEquals(7, new Exchange(ann).send(new byte[7]).response().length);
    assertEquals(1, ann.ringCalls());
    assertEquals(
        "CN=ann",
        handler
            .take()
            .call
            .getAttributes()
            .get(Grpc.TRANSPORT_ATTR_SSL_SESSION)
            .getPeerPrincipal()
            .getName());
  }

  private record AnswerRecorder(AtomicReference<Answer> told) implements Beneath {
    @Override
    public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
      return new SimpleForwardingClientCall<>(call) {
        @Override
        public void start(Listener<R> listener, Metadata headers) {
          super.start(
              new SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onMessage(R message) {
                  told.set(((OpenResponse) message).get(OpenResponse.ANSWER));
                  super.onMessage(message);
                }
              },
              headers);
        }
      };
    }
  }

  /** Then gRPC does not tell how well the connection is protected. */
  @Test
  void anInterceptorBeneathMayHaveCredentialsOfItsOwn() throws Exception {
    final CallCredentials own =
        new CallCredentials() {
          @Override
          public void applyRequestMetadata(
              RequestInfo request, Executor executor, MetadataApplier applier) {
            applier.apply(Bytes.metadata("token", "own"));
          }
        };
    final ClientInterceptor replacing =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            return next.newCall(method, options.withCallCredentials(own));
          }
        };
    final RingServer server =
        RingServerBuilder.forPort(0)
            .useTransportSecurity(Tls.SERVER.certificate(), Tls.SERVER.key())
            .shmDirectory(directory)
            .spinTime(Duration.ZERO)
            .addService(service(handler))
            .build()
            .start();
    serve(server);
    final RingChannel channel =
        build(
            RingChannelBuilder.over(
                    Grpc.newChannelBuilder("localhost:" + server.getPort(), Tls.client())
                        .intercept(replacing),
                    "test")
                .shmDirectory(directory)
                .spinTime(Duration.ZERO));
    assertEquals(
        SecurityLevel.PRIVACY_AND_INTEGRITY,
        channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).securityLevel());
    assertEquals(7, new Exchange(channel).send(new byte[7]).response().length);
    assertEquals(SecurityLevel.PRIVACY_AND_INTEGRITY, handler.take().call.getSecurityLevel());
    assertEquals(1, channel.ringCalls());
  }

  /** As gRPC tells filters the end of a connection after that of its calls. */
  @Test
  void aConnectionHasNotTerminatedBeforeItsRings() throws Exception {
    final List<String> log = Collections.synchronizedList(new ArrayList<>());
    final CountDownLatch lost = new CountDownLatch(1);
    final CountDownLatch terminated = new CountDownLatch(1);
    final Served.Handler hanging = Served.hanging();
    final RingServer server =
        RingServerBuilder.over(
                ServerBuilder.forPort(0).addTransportFilter(onTermination(lost::countDown)))
            .shmDirectory(directory)
            .spinTime(Duration.ZERO)
            .addService(service(hanging))
            .addTransportFilter(
                onTermination(
                    () -> {
                      log.add("terminated");
                      terminated.countDown();
                    }))
            .build()
            .start();
    serve(server);
    final RingChannel channel;
    final Exchange call;
    final Served served;
    try (Relay relay = new Relay(server.getPort())) {
      channel =
          connect(
              RingChannelBuilder.forAddress("localhost", relay.port())
                  .usePlaintext()
                  .requireFabric()
                  .acrossProxies(true)
                  .shmDirectory(directory)
                  .spinTime(Duration.ZERO));
      call = new Exchange(channel).send(new byte[6]);
      served = hanging.take();
      served.awaitHalfClose();
    }
    assertTrue(lost.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), "the connection stays");
    await("the ring stays", () -> !channel.transport().isRing());
    log.add("answered");
    served.answer(new byte[6]);
    assertEquals(6, call.response().length);
    assertTrue(terminated.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertEquals(List.of("answered", "terminated"), log);
  }

  private static ServerTransportFilter onTermination(Runnable told) {
    return new ServerTransportFilter() {
      @Override
      public void transportTerminated(Attributes attributes) {
        told.run();
      }
    };
  }
}
