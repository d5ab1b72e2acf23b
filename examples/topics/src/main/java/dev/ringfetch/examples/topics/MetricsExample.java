package dev.ringfetch.examples.topics;

import dev.ringfetch.examples.greeter.v1.GreeterGrpc;
import dev.ringfetch.examples.greeter.v1.HelloReply;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import dev.ringfetch.micrometer.RingMetrics;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/** The counters of rings in an application's own metrics. */
final class MetricsExample {
  private MetricsExample() {}

  /** Makes ten calls, and prints what was counted. */
  public static void main(String[] args) throws Exception {
    final MeterRegistry registry = new SimpleMeterRegistry();
    final GreeterGrpc.GreeterImplBase greeter =
        new GreeterGrpc.GreeterImplBase() {
          @Override
          public void sayHello(HelloRequest request, StreamObserver<HelloReply> replies) {
            replies.onNext(HelloReply.newBuilder().setMessage("Hello").build());
            replies.onCompleted();
          }
        };
    try (RingMetrics metrics = new RingMetrics()) {
      metrics.bindTo(registry);
      final RingServer server = RingServerBuilder.forPort(0).addService(greeter).build().start();
      final RingChannel channel =
          RingChannelBuilder.forTarget("localhost:" + server.getPort())
              .usePlaintext()
              .requireFabric() // without it the first call goes over gRPC
              .build();
      final double before = count(registry, "ringfetch.channels.calls.ring");
      for (int i = 0; i < 10; i++) {
        GreeterGrpc.newBlockingStub(channel).sayHello(HelloRequest.getDefaultInstance());
      }
      System.out.println(
          "calls by ring: " + (count(registry, "ringfetch.channels.calls.ring") - before));
      channel.shutdownNow();
      server.shutdownNow();
    }
  }

  private static double count(MeterRegistry registry, String meter) {
    return registry.get(meter).functionCounter().count();
  }
}
