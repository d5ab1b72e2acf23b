package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.channelz.v1.ChannelzGrpc;
import io.grpc.channelz.v1.GetServersRequest;
import io.grpc.channelz.v1.GetTopChannelsRequest;
import io.grpc.channelz.v1.Server;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.services.ChannelzService;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** gRPC's standard services of one server answer alike, over a ring and over the port. */
@Timeout(60)
class StandardServicesTest {
  private static final String SERVICE = IndexGrpc.SERVICE_NAME;

  @Nested
  final class OverTheRing extends Cases {
    OverTheRing() {
      super(true);
    }
  }

  @Nested
  final class OverThePort extends Cases {
    OverThePort() {
      super(false);
    }
  }

  /** The cases, once for each way. */
  abstract static class Cases extends RingFixture {
    private final boolean ring;
    private final HealthStatusManager health = new HealthStatusManager();
    private RingServer server;
    private RingChannel channel;

    Cases(boolean ring) {
      this.ring = ring;
    }

    @BeforeEach
    final void open() throws Exception {
      server =
          serve(
              Bytes.digesting(),
              builder ->
                  builder
                      .addService(new IndexGrpc.IndexImplBase() {})
                      .addService(health.getHealthService())
                      .addService(ProtoReflectionServiceV1.newInstance())
                      .addService(ChannelzService.newInstance(100)));
      channel =
          ring
              ? connect(builder().requireFabric())
              : build(builder().shmDirectory(directory.resolve("another")));
    }

    @AfterEach
    final void tookItsWay() {
      assertEquals(ring, channel.ringCalls() > 0, "calls over the ring: " + channel.ringCalls());
      assertEquals(!ring, channel.grpcCalls() > 0, "calls over gRPC: " + channel.grpcCalls());
    }

    private static HealthCheckRequest of(String service) {
      return HealthCheckRequest.newBuilder().setService(service).build();
    }

    @Test
    void healthIsChecked() {
      final HealthGrpc.HealthBlockingStub stub = HealthGrpc.newBlockingStub(channel);
      assertEquals(ServingStatus.SERVING, stub.check(of("")).getStatus());
      health.setStatus(SERVICE, ServingStatus.NOT_SERVING);
      assertEquals(ServingStatus.NOT_SERVING, stub.check(of(SERVICE)).getStatus());
      final StatusRuntimeException unknown =
          assertThrows(StatusRuntimeException.class, () -> stub.check(of("nobody")));
      assertEquals(Status.Code.NOT_FOUND, unknown.getStatus().getCode());
    }

    @Test
    void healthIsWatched() {
      final Iterator<HealthCheckResponse> watch =
          HealthGrpc.newBlockingStub(channel)
              .withDeadlineAfter(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS)
              .watch(of(SERVICE));
      assertEquals(ServingStatus.SERVICE_UNKNOWN, watch.next().getStatus());
      for (final ServingStatus status :
          List.of(ServingStatus.SERVING, ServingStatus.NOT_SERVING, ServingStatus.SERVING)) {
        health.setStatus(SERVICE, status);
        assertEquals(status, watch.next().getStatus());
      }
    }

    @Test
    void reflectionTellsServicesAndFiles() throws Exception {
      final BlockingQueue<ServerReflectionResponse> answers = new LinkedBlockingQueue<>();
      final BlockingQueue<String> end = new LinkedBlockingQueue<>();
      final StreamObserver<ServerReflectionRequest> questions =
          ServerReflectionGrpc.newStub(channel)
              .serverReflectionInfo(
                  new StreamObserver<>() {
                    @Override
                    public void onNext(ServerReflectionResponse answer) {
                      answers.add(answer);
                    }

                    @Override
                    public void onError(Throwable t) {
                      end.add(t.toString());
                    }

                    @Override
                    public void onCompleted() {
                      end.add("completed");
                    }
                  });
      questions.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
      final List<String> services =
          take(answers).getListServicesResponse().getServiceList().stream()
              .map(ServiceResponse::getName)
              .toList();
      assertTrue(
          services.containsAll(
              Set.of(
                  SERVICE,
                  HealthGrpc.SERVICE_NAME,
                  ServerReflectionGrpc.SERVICE_NAME,
                  ChannelzGrpc.SERVICE_NAME)),
          services::toString);
      assertFalse(
          services.stream().anyMatch(name -> name.startsWith("ringfetch.v1.")), services::toString);
      questions.onNext(
          ServerReflectionRequest.newBuilder().setFileContainingSymbol(SERVICE + ".Get").build());
      final FileDescriptorProto file =
          FileDescriptorProto.parseFrom(
              take(answers).getFileDescriptorResponse().getFileDescriptorProto(0));
      assertEquals("ringfetch.index.v1", file.getPackage());
      assertEquals("Index", file.getService(0).getName());
      questions.onCompleted();
      assertEquals("completed", end.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }

    private static ServerReflectionResponse take(BlockingQueue<ServerReflectionResponse> answers)
        throws InterruptedException {
      final ServerReflectionResponse answer =
          answers.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      assertTrue(answer != null, "no answer");
      return answer;
    }

    /** It knows of connections, and so of the gRPC server and channel that the ring belongs to. */
    @Test
    void channelzTellsServersAndChannels() {
      final ChannelzGrpc.ChannelzBlockingStub stub = ChannelzGrpc.newBlockingStub(channel);
      final List<Integer> ports = new ArrayList<>();
      for (final Server listed :
          stub.getServers(GetServersRequest.getDefaultInstance()).getServerList()) {
        listed.getListenSocketList().stream()
            .map(
                socket ->
                    stub.getSocket(
                        io.grpc.channelz.v1.GetSocketRequest.newBuilder()
                            .setSocketId(socket.getSocketId())
                            .build()))
            .forEach(
                socket -> ports.add(socket.getSocket().getLocal().getTcpipAddress().getPort()));
      }
      assertTrue(ports.contains(server.getPort()), ports::toString);
      assertTrue(
          stub.getTopChannels(GetTopChannelsRequest.getDefaultInstance()).getChannelCount() > 0);
    }
  }
}
