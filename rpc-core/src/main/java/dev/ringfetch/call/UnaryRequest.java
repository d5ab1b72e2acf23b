package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.util.concurrent.Executor;

/**
 * The request half of a client's unary call: keeps headers and message, and writes them as a unit.
 * {@link UnaryClientCall} handles the end of the call. It is a superclass instead of a separate
 * object, as {@link CallTask} is.
 */
abstract class UnaryRequest<ReqT, RespT> extends OutgoingCall<ReqT, RespT>
    implements ClientStream.AnswerListener {
  Metadata headers;
  ReqT request;
  boolean hasRequest;
  boolean halfClosed;

  UnaryRequest(MethodDescriptor<ReqT, RespT> method, CallOptions options, Executor executor) {
    super(method, options, executor);
  }

  /** The method. */
  public final MethodDescriptor<ReqT, RespT> method() {
    return method;
  }

  /** The options. */
  public final CallOptions options() {
    return options;
  }

  /** Sets other options, before the call starts. */
  protected final void options(CallOptions other) {
    options = other;
  }

  /** Marshals the request into a stream's unit. */
  final void prepare(ClientStream opened) throws IOException {
    final UnitBuffer unit = opened.outbound();
    final long remainingNs = Requests.remainingNs(deadline);
    final int methodId = connection.methodId(method);
    int flags =
        PREFIX | SUFFIX | Requests.addSections(unit, remainingNs, headers, options.getAuthority());
    if (hasRequest) {
      final Integer maxLength = options.getMaxOutboundMessageSize();
      flags |=
          Encoding.write(
              encoding,
              method.streamRequest(request),
              unit,
              maxLength == null ? Integer.MAX_VALUE : maxLength,
              connection.session().bulk());
    }
    opened.prepare(
        this,
        flags,
        methodId,
        Requests.deadlineNs(connection.session(), remainingNs),
        limits.maxUnitLength());
  }
}
