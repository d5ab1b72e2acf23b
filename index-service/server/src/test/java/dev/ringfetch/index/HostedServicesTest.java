package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The services beside the index. */
class HostedServicesTest {
  private static final int DEADLINE_SECONDS = 60;

  private LocalServer server;

  @BeforeEach
  void start() throws IOException {
    server = LocalServer.start();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void healthSaysServing() {
    final HealthGrpc.HealthBlockingStub health =
        HealthGrpc.newBlockingStub(server.channel())
            .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    for (final String service : new String[] {"", IndexGrpc.SERVICE_NAME}) {
      assertEquals(
          ServingStatus.SERVING,
          health.check(HealthCheckRequest.newBuilder().setService(service).build()).getStatus());
    }
  }

  @Test
  void reflectionListsTheServices() throws Exception {
    final FirstAnswer<ServerReflectionResponse> answer = new FirstAnswer<>();
    final StreamObserver<ServerReflectionRequest> requests =
        ServerReflectionGrpc.newStub(server.channel())
            .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS)
            .serverReflectionInfo(answer);
    requests.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
    final ServerReflectionResponse response = answer.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    requests.onCompleted();
    assertEquals(
        Set.of(
            "ringfetch.index.v1.Index",
            "ringfetch.index.v1.IndexAdmin",
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection"),
        response.getListServicesResponse().getServiceList().stream()
            .map(ServiceResponse::getName)
            .collect(Collectors.toSet()));
  }
}
