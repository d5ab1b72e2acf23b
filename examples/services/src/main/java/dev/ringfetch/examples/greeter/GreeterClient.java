package dev.ringfetch.examples.greeter;

import dev.ringfetch.examples.greeter.v1.GreeterGrpc;
import dev.ringfetch.examples.greeter.v1.HelloReply;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;

/** The client: one line has changed. */
final class GreeterClient implements AutoCloseable {
  private static final int END_SECONDS = 10;
  private static final int DEADLINE_SECONDS = 60;

  private final ManagedChannel channel;
  private final GreeterGrpc.GreeterBlockingStub stub;

  GreeterClient(String target) {
    channel =
        // was: ManagedChannelBuilder.forTarget(target).usePlaintext().build();
        RingChannelBuilder.forTarget(target).usePlaintext().build();
    stub = GreeterGrpc.newBlockingStub(channel);
  }

  ManagedChannel channel() {
    return channel;
  }

  /** A unary call that succeeds, one that does not, and one that streams. */
  void greet(String name, PrintStream out) {
    out.println(hello(name));
    try {
      out.println(hello(""));
    } catch (StatusRuntimeException e) {
      out.println(e.getStatus().getCode() + ": " + e.getStatus().getDescription());
    }
    withDeadline().sayHelloInTurn(request(name)).forEachRemaining(reply -> print(reply, out));
  }

  String hello(String name) {
    return withDeadline().sayHello(request(name)).getMessage();
  }

  private GreeterGrpc.GreeterBlockingStub withDeadline() {
    return stub.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  private static HelloRequest request(String name) {
    return HelloRequest.newBuilder().setName(name).build();
  }

  private static void print(HelloReply reply, PrintStream out) {
    out.println(reply.getMessage());
  }

  @Override
  public void close() {
    channel.shutdown();
    try {
      if (!channel.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        channel.shutdownNow();
      }
    } catch (InterruptedException e) {
      channel.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
