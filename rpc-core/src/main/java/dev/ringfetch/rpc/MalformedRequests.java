package dev.ringfetch.rpc;

import com.google.protobuf.MessageLite;
import io.grpc.BindableService;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.InputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The guard of a service against requests that cannot be parsed: the call ends INVALID_ARGUMENT.
 * gRPC's server alone ends it UNKNOWN instead, and logs an exception as of an error in the
 * application, which any client can cause as often as it likes.
 *
 * <p>Refused requests are counted; the log has one line a minute for each service at most.
 *
 * <p>The marshaller of a guarded method returns, in the place of a message, one that is told by its
 * identity, and the guard around the handler ends the call. Interceptors that are added around a
 * guarded service see that message, which is empty.
 */
public final class MalformedRequests {
  private static final Logger LOGGER = System.getLogger(MalformedRequests.class.getName());
  private static final long LOG_INTERVAL_NS = TimeUnit.MINUTES.toNanos(1);

  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong loggedNs = new AtomicLong(System.nanoTime() - LOG_INTERVAL_NS);

  private MalformedRequests() {}

  /** Guards a service; see {@link #refusedBy(ServerServiceDefinition)}. */
  public static ServerServiceDefinition refusedBy(BindableService service) {
    return refusedBy(service.bindService());
  }

  /**
   * Guards those methods of a service whose requests are messages of protobuf; others stay as they
   * are.
   */
  public static ServerServiceDefinition refusedBy(ServerServiceDefinition service) {
    final MalformedRequests requests = new MalformedRequests();
    final ServiceDescriptor before = service.getServiceDescriptor();
    final ServiceDescriptor.Builder descriptor =
        ServiceDescriptor.newBuilder(before.getName())
            .setSchemaDescriptor(before.getSchemaDescriptor());
    final ServerMethodDefinition<?, ?>[] methods =
        service.getMethods().stream()
            .map(requests::guarded)
            .toArray(ServerMethodDefinition<?, ?>[]::new);
    for (final ServerMethodDefinition<?, ?> method : methods) {
      descriptor.addMethod(method.getMethodDescriptor());
    }
    final ServerServiceDefinition.Builder guarded =
        ServerServiceDefinition.builder(descriptor.build());
    for (final ServerMethodDefinition<?, ?> method : methods) {
      guarded.addMethod(method);
    }
    return guarded.build();
  }

  /** Guards a method; see {@link #refusedBy(ServerServiceDefinition)}. */
  static <ReqT, RespT> ServerMethodDefinition<ReqT, RespT> refusedBy(
      ServerMethodDefinition<ReqT, RespT> method, ReqT malformed) {
    return new MalformedRequests().guarded(method, malformed);
  }

  @SuppressWarnings("unchecked") // a prototype's builder builds messages of its type
  private <ReqT, RespT> ServerMethodDefinition<ReqT, RespT> guarded(
      ServerMethodDefinition<ReqT, RespT> method) {
    return method.getMethodDescriptor().getRequestMarshaller()
                instanceof PrototypeMarshaller<ReqT> marshaller
            && marshaller.getMessagePrototype() instanceof MessageLite prototype
        ? guarded(method, (ReqT) prototype.newBuilderForType().build())
        : method;
  }

  /**
   * Guards a method.
   *
   * @param malformed the message in the place of one that cannot be read; told by its identity
   */
  private <ReqT, RespT> ServerMethodDefinition<ReqT, RespT> guarded(
      ServerMethodDefinition<ReqT, RespT> method, ReqT malformed) {
    final MethodDescriptor<ReqT, RespT> before = method.getMethodDescriptor();
    final MethodDescriptor<ReqT, RespT> descriptor =
        before.toBuilder(
                new Marshaller<>(before.getRequestMarshaller(), malformed),
                before.getResponseMarshaller())
            .build();
    final ServerCallHandler<ReqT, RespT> handler = method.getServerCallHandler();
    final boolean sendsOne = before.getType().clientSendsOneMessage();
    return ServerMethodDefinition.create(
        descriptor,
        (call, headers) -> {
          final ServerCall<ReqT, RespT> guarded = sendsOne ? call : new StreamingCall<>(call);
          return new Guard<>(this, guarded, malformed, handler.startCall(guarded, headers));
        });
  }

  private Status refuse(String method, Object malformed) {
    final long number = refused.incrementAndGet();
    final long beforeNs = loggedNs.get();
    final long nowNs = System.nanoTime();
    if (nowNs - beforeNs >= LOG_INTERVAL_NS && loggedNs.compareAndSet(beforeNs, nowNs)) {
      LOGGER.log(
          Level.WARNING,
          "refused a malformed request: method="
              + method
              + " refused="
              + number
              + "; further ones are counted, and logged once a minute");
    }
    return Status.INVALID_ARGUMENT.withDescription(
        "the request is not a " + malformed.getClass().getSimpleName() + ": method=" + method);
  }

  /** A marshaller that returns one message for all that cannot be read. */
  private record Marshaller<T>(MethodDescriptor.Marshaller<T> messages, T malformed)
      implements PrototypeMarshaller<T> {
    @Override
    public InputStream stream(T message) {
      return messages.stream(message);
    }

    @Override
    public T parse(InputStream stream) {
      try {
        return messages.parse(stream);
      } catch (StatusRuntimeException e) {
        if (e.getStatus().getCode() == Status.Code.INTERNAL) { // else of a limit
          return malformed;
        }
        throw e;
      }
    }

    @Override
    public T getMessagePrototype() {
      return malformed;
    }

    @Override
    @SuppressWarnings("unchecked")
    public Class<T> getMessageClass() {
      return (Class<T>) malformed.getClass();
    }
  }

  /** The listener around a handler's own, which gets no malformed message. */
  private static final class Guard<ReqT> extends SimpleForwardingServerCallListener<ReqT> {
    private final MalformedRequests requests;
    private final ServerCall<ReqT, ?> call;
    private final ReqT malformed;
    private boolean refused;

    Guard(
        MalformedRequests requests,
        ServerCall<ReqT, ?> call,
        ReqT malformed,
        ServerCall.Listener<ReqT> handler) {
      super(handler);
      this.requests = requests;
      this.call = call;
      this.malformed = malformed;
    }

    @Override
    public void onMessage(ReqT message) {
      if (message == malformed) {
        refused = true;
        final String method = call.getMethodDescriptor().getFullMethodName();
        final Status status = requests.refuse(method, malformed);
        if (call instanceof StreamingCall<?, ?> streaming) {
          streaming.refuse(status);
        } else {
          call.close(status, new Metadata());
        }
      } else if (!refused) {
        super.onMessage(message);
      }
    }

    @Override
    public void onHalfClose() {
      if (!refused) {
        super.onHalfClose();
      }
    }

    @Override
    public void onComplete() {
      if (refused) { // not by the handler, which may wait for more messages
        super.onCancel();
      } else {
        super.onComplete();
      }
    }
  }

  /** A call that may be refused while its handler answers: what the handler sends then is lost. */
  private static final class StreamingCall<ReqT, RespT>
      extends SimpleForwardingServerCall<ReqT, RespT> {
    private volatile boolean refused; // written under the lock, as calls of one thread at a time
    private boolean closed;

    StreamingCall(ServerCall<ReqT, RespT> call) {
      super(call);
    }

    synchronized void refuse(Status status) {
      if (!closed) {
        refused = true;
        super.close(status, new Metadata());
      }
    }

    @Override
    public synchronized void sendHeaders(Metadata headers) {
      if (!refused) {
        super.sendHeaders(headers);
      }
    }

    @Override
    public synchronized void sendMessage(RespT message) {
      if (!refused) {
        super.sendMessage(message);
      }
    }

    @Override
    public synchronized void close(Status status, Metadata trailers) {
      if (!refused) {
        closed = true;
        super.close(status, trailers);
      }
    }

    @Override
    public boolean isCancelled() {
      return refused || super.isCancelled();
    }

    @Override
    public boolean isReady() {
      return !refused && super.isReady();
    }
  }
}
