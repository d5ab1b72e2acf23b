package dev.ringfetch.examples.topics;

import dev.ringfetch.examples.greeter.v1.GreeterGrpc;
import dev.ringfetch.examples.greeter.v1.HelloReply;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicInteger;

/** A stream whose server sends while its client has room: a slow reader holds it back. */
final class FlowControlExample {
  private static final int MESSAGES = 10_000;

  private FlowControlExample() {}

  /** Reads a long stream, and says how far the server was ahead at the first message. */
  public static void main(String[] args) throws Exception {
    final AtomicInteger sent = new AtomicInteger();
    final GreeterGrpc.GreeterImplBase many =
        new GreeterGrpc.GreeterImplBase() {
          @Override
          public void sayHelloInTurn(HelloRequest request, StreamObserver<HelloReply> replies) {
            final ServerCallStreamObserver<HelloReply> client =
                (ServerCallStreamObserver<HelloReply>) replies;
            client.setOnReadyHandler(
                () -> {
                  while (client.isReady() && sent.get() < MESSAGES) {
                    client.onNext(HelloReply.newBuilder().setMessage("Hello").build());
                    if (sent.incrementAndGet() == MESSAGES) {
                      client.onCompleted();
                    }
                  }
                });
          }
        };
    final RingServer server = RingServerBuilder.forPort(0).addService(many).build().start();
    final RingChannel channel =
        RingChannelBuilder.forTarget("localhost:" + server.getPort())
            .usePlaintext()
            .requireFabric() // without it the first call goes over gRPC
            .build();
    final Iterator<HelloReply> replies =
        GreeterGrpc.newBlockingStub(channel).sayHelloInTurn(HelloRequest.getDefaultInstance());
    replies.next();
    System.out.println("server: held back is " + (sent.get() < MESSAGES));
    int read = 1;
    while (replies.hasNext()) {
      replies.next();
      read++;
    }
    System.out.println("client: " + read + " messages");
    channel.shutdownNow();
    server.shutdownNow();
  }
}
