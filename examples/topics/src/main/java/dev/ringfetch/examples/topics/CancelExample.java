package dev.ringfetch.examples.topics;

import dev.ringfetch.examples.greeter.v1.GreeterGrpc;
import dev.ringfetch.examples.greeter.v1.HelloReply;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Context;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A stream that its client cancels after the first message: the server stops. */
final class CancelExample {
  private CancelExample() {}

  /** Reads one message of a stream without end. */
  public static void main(String[] args) throws Exception {
    final CountDownLatch cancelled = new CountDownLatch(1);
    final GreeterGrpc.GreeterImplBase endless =
        new GreeterGrpc.GreeterImplBase() {
          @Override
          public void sayHelloInTurn(HelloRequest request, StreamObserver<HelloReply> replies) {
            ((ServerCallStreamObserver<HelloReply>) replies)
                .setOnCancelHandler(cancelled::countDown);
            replies.onNext(
                HelloReply.newBuilder().setMessage("Hello, " + request.getName()).build());
          }
        };
    final RingServer server = RingServerBuilder.forPort(0).addService(endless).build().start();
    final RingChannel channel =
        RingChannelBuilder.forTarget("localhost:" + server.getPort())
            .usePlaintext()
            .requireFabric() // without it the first call goes over gRPC
            .build();
    final HelloRequest ada = HelloRequest.newBuilder().setName("Ada").build();
    try (Context.CancellableContext context = Context.current().withCancellation()) {
      final HelloReply first =
          context.call(() -> GreeterGrpc.newBlockingStub(channel).sayHelloInTurn(ada).next());
      System.out.println("client: " + first.getMessage());
    } // cancels the call
    System.out.println(
        "server: " + (cancelled.await(10, TimeUnit.SECONDS) ? "cancelled" : "not cancelled"));
    channel.shutdownNow();
    server.shutdownNow();
  }
}
