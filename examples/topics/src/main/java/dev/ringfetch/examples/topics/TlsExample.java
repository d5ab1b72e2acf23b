package dev.ringfetch.examples.topics;

import dev.ringfetch.examples.greeter.v1.GreeterGrpc;
import dev.ringfetch.examples.greeter.v1.HelloReply;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ChannelCredentials;
import io.grpc.ServerCredentials;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.stub.StreamObserver;
import java.io.File;

/** A port with TLS: the handshake is encrypted, and calls go over a ring in shared memory. */
final class TlsExample {
  private TlsExample() {}

  /** Calls; the arguments are the files of the server's certificate, its key, and its authority. */
  public static void main(String[] args) throws Exception {
    final GreeterGrpc.GreeterImplBase greeter =
        new GreeterGrpc.GreeterImplBase() {
          @Override
          public void sayHello(HelloRequest request, StreamObserver<HelloReply> replies) {
            replies.onNext(HelloReply.newBuilder().setMessage("Hello").build());
            replies.onCompleted();
          }
        };
    final ServerCredentials identity =
        TlsServerCredentials.create(new File(args[0]), new File(args[1]));
    final RingServer server =
        RingServerBuilder.newServerBuilderForPort(0, identity).addService(greeter).build().start();
    final ChannelCredentials trust =
        TlsChannelCredentials.newBuilder().trustManager(new File(args[2])).build();
    final RingChannel channel =
        RingChannelBuilder.newChannelBuilder("localhost:" + server.getPort(), trust)
            .requireFabric() // without it the first call goes over gRPC
            .build();
    final HelloReply reply =
        GreeterGrpc.newBlockingStub(channel).sayHello(HelloRequest.getDefaultInstance());
    System.out.println("client: " + reply.getMessage() + " by " + channel.transport().name());
    channel.shutdownNow();
    server.shutdownNow();
  }
}
