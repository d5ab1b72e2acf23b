package dev.ringfetch.examples.topics;

import dev.ringfetch.examples.greeter.v1.GreeterGrpc;
import dev.ringfetch.examples.greeter.v1.HelloReply;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A method with a retry policy: gRPC repeats its calls, so they stay on gRPC. */
final class RetryExample {
  private static final Map<String, ?> CONFIG =
      Map.of(
          "methodConfig",
          List.of(
              Map.of(
                  "name",
                  List.of(Map.of("service", GreeterGrpc.SERVICE_NAME, "method", "SayHello")),
                  "retryPolicy",
                  Map.of(
                      "maxAttempts",
                      3.0,
                      "initialBackoff",
                      "0.01s",
                      "maxBackoff",
                      "0.1s",
                      "backoffMultiplier",
                      2.0,
                      "retryableStatusCodes",
                      List.of("UNAVAILABLE")))));

  private RetryExample() {}

  /** Calls a service that fails twice. */
  public static void main(String[] args) throws Exception {
    final AtomicInteger attempts = new AtomicInteger();
    final GreeterGrpc.GreeterImplBase flaky =
        new GreeterGrpc.GreeterImplBase() {
          @Override
          public void sayHello(HelloRequest request, StreamObserver<HelloReply> replies) {
            if (attempts.incrementAndGet() < 3) {
              replies.onError(Status.UNAVAILABLE.asRuntimeException());
            } else {
              replies.onNext(HelloReply.newBuilder().setMessage("Hello").build());
              replies.onCompleted();
            }
          }
        };
    final RingServer server = RingServerBuilder.forPort(0).addService(flaky).build().start();
    final RingChannel channel =
        RingChannelBuilder.forTarget("localhost:" + server.getPort())
            .usePlaintext()
            .defaultServiceConfig(CONFIG)
            .build();
    final HelloReply reply =
        GreeterGrpc.newBlockingStub(channel).sayHello(HelloRequest.getDefaultInstance());
    System.out.println("client: " + reply.getMessage() + ", calls of gRPC " + channel.grpcCalls());
    System.out.println("server: " + attempts + " attempts");
    channel.shutdownNow();
    server.shutdownNow();
  }
}
