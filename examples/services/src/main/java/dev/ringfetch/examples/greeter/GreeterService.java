package dev.ringfetch.examples.greeter;

import dev.ringfetch.examples.greeter.v1.GreeterGrpc;
import dev.ringfetch.examples.greeter.v1.HelloReply;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.List;

/** The service. Nothing here knows of Ringfetch. */
final class GreeterService extends GreeterGrpc.GreeterImplBase {
  private static final List<String> GREETINGS = List.of("Hello", "Bonjour", "Hallo", "Ciao");

  @Override
  public void sayHello(HelloRequest request, StreamObserver<HelloReply> replies) {
    if (request.getName().isEmpty()) {
      replies.onError(
          Status.INVALID_ARGUMENT.withDescription("nobody to greet").asRuntimeException());
      return;
    }
    replies.onNext(greet(GREETINGS.get(0), request));
    replies.onCompleted();
  }

  @Override
  public void sayHelloInTurn(HelloRequest request, StreamObserver<HelloReply> replies) {
    GREETINGS.forEach(greeting -> replies.onNext(greet(greeting, request)));
    replies.onCompleted();
  }

  private static HelloReply greet(String greeting, HelloRequest request) {
    return HelloReply.newBuilder().setMessage(greeting + ", " + request.getName()).build();
  }
}
