package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.BindableService;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingChannelBuilder2;
import io.grpc.ForwardingServerBuilder;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Rings attached to the builders of gRPC's own channel and server, as for a framework: services,
 * interceptors and filters are given to gRPC's builders, all else to Ringfetch's.
 */
final class AttachedHarness extends TransportHarness {
  private static final String LISTED =
      "the session service of attached rings is one of the server's";

  private static final String BUNDLED =
      "a channel whose credentials have call credentials has no attached rings";

  private static final String UNCOUNTED =
      "gRPC's channel knows nothing of a call that waits for its credentials before it has a ring";

  private static final Map<String, String> DIFFERENCES =
      Map.of(
          "aServerSaysWhatItServesAndWhere",
          LISTED,
          "theServicesOfAFallbackRegistryAreMutable",
          LISTED,
          "aCallsTokenComesAfterItsChannels",
          BUNDLED,
          "aChannelsTokenGoesWithEachOfItsCalls",
          BUNDLED,
          "ofChoicesTheFirstIsTaken",
          BUNDLED,
          "aCallThatWaitsForItsCredentialsEndsWithTheChannel",
          UNCOUNTED,
          "aCallThatWaitsForItsCredentialsOutlivesAShutdownOfTheChannel",
          UNCOUNTED,
          "aConnectionIsMadeOnRequest",
          "a request for a connection opens no attached ring: a call does");

  private final RingHarness rings = new RingHarness();
  private final Map<ManagedChannel, ChannelAttachment> attachments = new ConcurrentHashMap<>();
  private final Map<ManagedChannel, RingChannel> connected = new ConcurrentHashMap<>();

  @Override
  ServerBuilder<?> newServerBuilder(int port, ServerCredentials credentials) {
    final ServerBuilder<?> grpc = Grpc.newServerBuilderForPort(port, credentials);
    return new AttachedServerBuilder(
        grpc,
        RingServerBuilder.over(grpc)
            .shmDirectory(rings.directory())
            .spinTime(Duration.ZERO)
            .pollers(1));
  }

  @Override
  ManagedChannelBuilder<?> newChannelBuilder(String target, ChannelCredentials credentials) {
    final ManagedChannelBuilder<?> grpc = Grpc.newChannelBuilder(target, credentials);
    return new AttachedChannelBuilder(
        grpc,
        RingChannelBuilder.over(grpc, target)
            .shmDirectory(rings.directory())
            .spinTime(Duration.ZERO));
  }

  @Override
  String fabric() {
    return rings.fabric();
  }

  @Override
  String allowedDifference(String test) {
    final String difference = DIFFERENCES.get(test);
    return difference == null ? rings.allowedDifference(test) : difference;
  }

  @Override
  void awaitConnected(ManagedChannel channel) throws Exception {
    PlainHarness.awaitReady(channel);
    final RingChannel begun = attachments.get(channel).rings();
    begun.awaitRing().get(TIMEOUT_S, TimeUnit.SECONDS);
    connected.put(channel, begun);
  }

  @Override
  void verify(ManagedChannel channel) {
    assertTrue(connected.get(channel).ringCalls() > 0, "no call went over the ring");
    Buffers.verifyClosed(rings.directory());
  }

  @Override
  void dispose() throws IOException {
    RingFixture.await(
        "the server's rings have ended",
        () -> {
          try (Stream<Path> files = Files.walk(rings.directory())) {
            return files.noneMatch(Files::isRegularFile);
          } catch (IOException | UncheckedIOException e) { // one is being deleted
            return false;
          }
        });
    rings.dispose();
  }

  @Override
  Status.Code brokenByServer(Status.Code code) {
    return rings.brokenByServer(code);
  }

  @Override
  boolean countsCallsBeforeHalfClose() {
    return false;
  }

  /** The server's builder of a framework that asks for rings last. */
  private static final class AttachedServerBuilder
      extends ForwardingServerBuilder<AttachedServerBuilder> {
    private final ServerBuilder<?> grpc;
    private final RingServerBuilder attaching;

    AttachedServerBuilder(ServerBuilder<?> grpc, RingServerBuilder attaching) {
      this.grpc = grpc;
      this.attaching = attaching;
    }

    @Override
    protected ServerBuilder<?> delegate() {
      return attaching;
    }

    @Override
    public AttachedServerBuilder addService(ServerServiceDefinition service) {
      grpc.addService(service);
      return this;
    }

    @Override
    public AttachedServerBuilder addService(BindableService service) {
      grpc.addService(service);
      return this;
    }

    @Override
    public AttachedServerBuilder intercept(ServerInterceptor interceptor) {
      grpc.intercept(interceptor);
      return this;
    }

    @Override
    public AttachedServerBuilder addTransportFilter(ServerTransportFilter filter) {
      grpc.addTransportFilter(filter);
      return this;
    }

    @Override
    public Server build() {
      attaching.attach();
      return grpc.build();
    }
  }

  /** The channel's builder of a framework that asks for rings last. */
  private final class AttachedChannelBuilder
      extends ForwardingChannelBuilder2<AttachedChannelBuilder> {
    private final ManagedChannelBuilder<?> grpc;
    private final RingChannelBuilder attaching;

    AttachedChannelBuilder(ManagedChannelBuilder<?> grpc, RingChannelBuilder attaching) {
      this.grpc = grpc;
      this.attaching = attaching;
    }

    @Override
    protected ManagedChannelBuilder<?> delegate() {
      return attaching;
    }

    @Override
    public AttachedChannelBuilder intercept(List<ClientInterceptor> interceptors) {
      grpc.intercept(interceptors);
      return this;
    }

    @Override
    public AttachedChannelBuilder intercept(ClientInterceptor... interceptors) {
      grpc.intercept(interceptors);
      return this;
    }

    @Override
    public ManagedChannel build() {
      final ChannelAttachment attachment = attaching.attachment();
      final ManagedChannel channel = grpc.build();
      attachments.put(channel, attachment);
      return channel;
    }
  }
}
