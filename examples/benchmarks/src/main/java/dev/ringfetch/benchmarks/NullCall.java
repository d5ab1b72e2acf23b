package dev.ringfetch.benchmarks;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;

/** A unary call whose server's side answers at once, within {@link #halfClose}. */
final class NullCall<ReqT, RespT> extends ClientCall<ReqT, RespT> {
  private final NullChannel channel;
  private final MethodDescriptor<ReqT, RespT> method;
  private final ServerMethodDefinition<?, ?> definition;
  private Listener<RespT> listener;
  private Metadata headers;
  private Status cancelled;

  NullCall(
      NullChannel channel,
      MethodDescriptor<ReqT, RespT> method,
      ServerMethodDefinition<?, ?> definition) {
    this.channel = channel;
    this.method = method;
    this.definition = definition;
  }

  @Override
  public void start(Listener<RespT> listener, Metadata headers) {
    this.listener = listener;
    this.headers = headers;
  }

  @Override
  public void request(int numMessages) {}

  @Override
  public void sendMessage(ReqT message) {
    channel.requests().refill(method.streamRequest(message));
  }

  @Override
  public void cancel(String message, Throwable cause) {
    cancelled = Status.CANCELLED.withDescription(message).withCause(cause);
  }

  @Override
  public void halfClose() {
    final Server<?, ?> server = serve(definition);
    listener.onHeaders(server.headers);
    if (cancelled == null && server.status.isOk()) {
      listener.onMessage(method.parseResponse(channel.responses()));
    }
    listener.onClose(cancelled == null ? server.status : cancelled, server.trailers);
  }

  /** Lets the handler answer; its messages are of other types where it is one on bytes. */
  private <Q, R> Server<Q, R> serve(ServerMethodDefinition<Q, R> served) {
    final long before = Allocation.ofThisThread();
    final Server<Q, R> server = new Server<>(channel, served.getMethodDescriptor());
    final ServerCall.Listener<Q> handler = served.getServerCallHandler().startCall(server, headers);
    handler.onMessage(served.getMethodDescriptor().parseRequest(channel.requests()));
    handler.onHalfClose();
    handler.onComplete();
    channel.countServerBytes(Allocation.ofThisThread() - before);
    return server;
  }

  /** The other side. */
  private static final class Server<Q, R> extends ServerCall<Q, R> {
    private final NullChannel channel;
    private final MethodDescriptor<Q, R> method;
    Metadata headers = new Metadata();
    Status status = Status.INTERNAL.withDescription("the handler did not answer");
    Metadata trailers = new Metadata();

    Server(NullChannel channel, MethodDescriptor<Q, R> method) {
      this.channel = channel;
      this.method = method;
    }

    @Override
    public void request(int numMessages) {}

    @Override
    public void sendHeaders(Metadata headers) {
      this.headers = headers;
    }

    @Override
    public void sendMessage(R message) {
      channel.responses().refill(method.streamResponse(message));
    }

    @Override
    public void close(Status status, Metadata trailers) {
      this.status = status;
      this.trailers = trailers;
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public MethodDescriptor<Q, R> getMethodDescriptor() {
      return method;
    }
  }
}
