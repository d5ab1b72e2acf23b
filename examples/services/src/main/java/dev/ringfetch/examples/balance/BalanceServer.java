package dev.ringfetch.examples.balance;

import dev.ringfetch.examples.greeter.v1.GreeterGrpc;
import dev.ringfetch.examples.greeter.v1.HelloReply;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Server;
import io.grpc.stub.StreamObserver;
import java.io.IOException;

/** One of the servers: answers each request with its own text. Ends with its input. */
final class BalanceServer extends GreeterGrpc.GreeterImplBase {
  private BalanceServer() {}

  /** Serves. */
  public static void main(String[] args) throws IOException {
    final Server server =
        RingServerBuilder.forPort(0).addService(new BalanceServer()).build().start();
    System.out.println(server.getPort());
    new CommandLoop().run();
    System.exit(0);
  }

  @Override
  public void sayHello(HelloRequest request, StreamObserver<HelloReply> replies) {
    replies.onNext(HelloReply.newBuilder().setMessage(request.getName()).build());
    replies.onCompleted();
  }
}
