package dev.ringfetch.rpc;

import dev.ringfetch.call.BareServerCall;
import dev.ringfetch.call.CallAcceptor;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A method with a {@link LeanHandler}: as a handler of ordinary calls for all transports, and of
 * reused calls for rings. Thread-safe.
 */
final class LeanMethod implements BareServerCall.Method {
  private static final Status NO_REQUEST =
      Status.INTERNAL.withDescription("Half-closed without a request");
  private static final Status TOO_MANY_REQUESTS =
      Status.INTERNAL.withDescription("Too many requests");

  private final LeanHandler handler;
  private final ServerMethodDefinition<?, ?> declined;
  private final ServerCallHandler<byte[], byte[]> declinedOnBytes;
  private final ServerMethodDefinition<byte[], byte[]> definition;

  /**
   * Creates the method.
   *
   * @param declined the method with the handler of the calls that the new one declines.
   * @param declinedOnBytes the same, with byte arrays as messages.
   */
  LeanMethod(
      ServerMethodDefinition<?, ?> declined,
      ServerMethodDefinition<byte[], byte[]> declinedOnBytes,
      LeanHandler handler) {
    this.handler = Objects.requireNonNull(handler, "handler");
    this.declined = declined;
    this.declinedOnBytes = declinedOnBytes.getServerCallHandler();
    this.definition =
        ServerMethodDefinition.create(ByteMessages.of(declined.getMethodDescriptor()), this);
  }

  @Override
  public ServerMethodDefinition<byte[], byte[]> definition() {
    return definition;
  }

  @Override
  public ServerMethodDefinition<?, ?> declined() {
    return declined;
  }

  @Override
  public BareServerCall newCall(CallAcceptor acceptor, ServerSession session, ServerStream stream) {
    return new OnRing(acceptor, session, stream);
  }

  @Override
  public ServerCall.Listener<byte[]> startCall(ServerCall<byte[], byte[]> call, Metadata headers) {
    call.request(2); // a second message is one too many
    return new OnCall(this, call, headers);
  }

  /** The reused calls of a stream. */
  private static final class OnRing extends BareServerCall implements LeanCall.Target {
    private final LeanCall call = new LeanCall(this);

    OnRing(CallAcceptor acceptor, ServerSession session, ServerStream stream) {
      super(acceptor, session, stream);
    }

    @Override
    protected boolean handle(Method called, byte[] request, int offset, int length) {
      return call.serve(((LeanMethod) called).handler, request, offset, length);
    }

    /** An ordinary call serves those that have some. */
    @Override
    public boolean mayHaveOwnHeaders() {
      return false;
    }

    /** Lets an ordinary call stand for this one: its handler has been called already. */
    @Override
    public LeanCall.Target detach() {
      final OnCall[] started = new OnCall[1];
      become(
          ServerMethodDefinition.create(
              definition().getMethodDescriptor(),
              (ordinary, headers) -> {
                ordinary.request(1); // read: the session may use its memory again
                started[0] = new OnCall(null, ordinary, headers);
                return started[0];
              }));
      return started[0] == null ? this : started[0]; // cancelled, if none was started
    }
  }

  /** An ordinary call. */
  private static final class OnCall extends ServerCall.Listener<byte[]> implements LeanCall.Target {
    private final LeanMethod lean; // null: the handler has been called
    private final ServerCall<byte[], byte[]> call;
    private final Metadata headers;
    private final Deadline deadline = Context.current().getDeadline();
    private byte[] request;
    private ServerCall.Listener<byte[]> declined;
    private byte[] message;
    private Status status;
    private Metadata trailers;

    OnCall(LeanMethod lean, ServerCall<byte[], byte[]> call, Metadata headers) {
      this.lean = lean;
      this.call = call;
      this.headers = headers;
    }

    @Override
    public void onMessage(byte[] received) {
      if (request != null) {
        refuse(TOO_MANY_REQUESTS);
      } else {
        request = received;
      }
    }

    @Override
    public void onHalfClose() {
      if (lean == null || status != null) {
        return;
      }
      if (request == null) {
        refuse(NO_REQUEST);
      } else if (!new LeanCall(this).serve(lean.handler, request, 0, request.length)) {
        declined = lean.declinedOnBytes.startCall(call, headers);
        declined.onMessage(request);
        declined.onHalfClose();
      }
    }

    private void refuse(Status why) {
      putFailure(why, new Metadata());
      send();
    }

    @Override
    public void onCancel() {
      if (declined != null) {
        declined.onCancel();
      }
    }

    @Override
    public void onComplete() {
      if (declined != null) {
        declined.onComplete();
      }
    }

    @Override
    public void onReady() {
      if (declined != null) {
        declined.onReady();
      }
    }

    @Override
    public void put(byte[] answer, int offset, int length) {
      message = Arrays.copyOfRange(answer, offset, offset + length);
      status = Status.OK;
      trailers = new Metadata();
    }

    @Override
    public void putFailure(Status why, Metadata with) {
      status = why;
      trailers = with;
    }

    @Override
    public void send() {
      if (status.isOk()) {
        call.sendHeaders(new Metadata());
        call.sendMessage(message);
      }
      call.close(status, trailers);
    }

    @Override
    public LeanCall.Target detach() {
      return this;
    }

    @Override
    public boolean isCancelled() {
      return call.isCancelled();
    }

    @Override
    public long remainingNs() {
      return deadline == null ? LeanCall.NO_TIMEOUT : deadline.timeRemaining(TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean mayHaveOwnHeaders() {
      return true;
    }

    @Override
    public Metadata headers() {
      return headers;
    }

    @Override
    public Attributes attributes() {
      return call.getAttributes();
    }

    @Override
    public String method() {
      return call.getMethodDescriptor().getFullMethodName();
    }
  }
}
