package dev.ringfetch.rpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.HandlerRegistry;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.util.function.Function;

/** A proxy of gRPC that knows no service: it forwards each call to the channel of its method. */
final class Layer7Proxy extends HandlerRegistry {
  private final Function<String, Channel> route;
  private final Server server;

  /**
   * Starts it.
   *
   * @param route channel of a call, by the full name of its method.
   */
  Layer7Proxy(Function<String, Channel> route) throws IOException {
    this.route = route;
    this.server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .fallbackHandlerRegistry(this)
            .build()
            .start();
  }

  String target() {
    return "localhost:" + server.getPort();
  }

  void close() throws InterruptedException {
    server.shutdownNow().awaitTermination();
  }

  @Override
  public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
    return ServerMethodDefinition.create(
        Bytes.method(name, MethodType.UNKNOWN), (call, headers) -> forward(call, headers));
  }

  private ServerCall.Listener<byte[]> forward(ServerCall<byte[], byte[]> call, Metadata headers) {
    final MethodDescriptor<byte[], byte[]> method = call.getMethodDescriptor();
    final ClientCall<byte[], byte[]> onward =
        route.apply(method.getFullMethodName()).newCall(method, CallOptions.DEFAULT);
    onward.start(
        new ClientCall.Listener<>() {
          @Override
          public void onHeaders(Metadata received) {
            call.sendHeaders(received);
          }

          @Override
          public void onMessage(byte[] message) {
            call.sendMessage(message);
            onward.request(1);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            call.close(status, trailers);
          }
        },
        headers);
    onward.request(1);
    call.request(1);
    return new ServerCall.Listener<>() {
      @Override
      public void onMessage(byte[] message) {
        onward.sendMessage(message);
        call.request(1);
      }

      @Override
      public void onHalfClose() {
        onward.halfClose();
      }

      @Override
      public void onCancel() {
        onward.cancel("the client has cancelled", null);
      }
    };
  }
}
