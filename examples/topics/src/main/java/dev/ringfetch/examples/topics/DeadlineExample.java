package dev.ringfetch.examples.topics;

import dev.ringfetch.examples.greeter.v1.GreeterGrpc;
import dev.ringfetch.examples.greeter.v1.HelloReply;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Context;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A call whose deadline passes: both ends learn of it. */
final class DeadlineExample {
  private DeadlineExample() {}

  /** Calls a service that takes too long for the second call. */
  public static void main(String[] args) throws Exception {
    final CountDownLatch told = new CountDownLatch(1);
    final GreeterGrpc.GreeterImplBase service =
        new GreeterGrpc.GreeterImplBase() {
          @Override
          public void sayHello(HelloRequest request, StreamObserver<HelloReply> replies) {
            if (request.getName().isEmpty()) { // takes too long
              Context.current().addListener(context -> told.countDown(), Runnable::run);
            } else {
              replies.onNext(HelloReply.newBuilder().setMessage("Hello").build());
              replies.onCompleted();
            }
          }
        };
    final RingServer server = RingServerBuilder.forPort(0).addService(service).build().start();
    final RingChannel channel =
        RingChannelBuilder.forTarget("localhost:" + server.getPort())
            .usePlaintext()
            .requireFabric() // without it the first call goes over gRPC
            .build();
    final GreeterGrpc.GreeterBlockingStub greeter = GreeterGrpc.newBlockingStub(channel);
    greeter.sayHello(HelloRequest.newBuilder().setName("Ada").build()); // opens the ring
    try {
      greeter.withDeadlineAfter(1, TimeUnit.SECONDS).sayHello(HelloRequest.getDefaultInstance());
    } catch (StatusRuntimeException e) {
      System.out.println("client: " + e.getStatus().getCode());
    }
    System.out.println("server: " + (told.await(10, TimeUnit.SECONDS) ? "told" : "not told"));
    channel.shutdownNow();
    server.shutdownNow();
  }
}
