package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.COMPRESSED;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import dev.ringfetch.session.unit.Units;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;

/**
 * A unary call at the server: its request is in the stream when it begins, its response leaves as
 * one unit when the handler closes.
 */
final class UnaryServerCall<ReqT, RespT> extends AnsweringCall<ReqT, RespT> {
  private int messageOffset;
  private int messageLength = -1;
  private boolean halfClosed;

  UnaryServerCall(
      CallAcceptor acceptor,
      ServerSession session,
      ServerStream stream,
      ServerMethodDefinition<ReqT, RespT> method,
      TaskRecord record) {
    super(acceptor, session, stream, method, record);
  }

  @Override
  Metadata readRequest() throws MalformedUnitException {
    final ServerLimits limits = acceptor.limits();
    final Metadata headers;
    if (stream.inboundFlags() == (PREFIX | MESSAGE | SUFFIX)) { // no sections: no view is needed
      if (!findMethod(null)) {
        return null;
      }
      headers = acceptor.peer().newHeaders();
      messageOffset = stream.inbound().offset();
      messageLength = stream.inbound().length();
    } else {
      final Request request = new Request(stream.inboundFlags(), stream.inbound());
      final String name = request.takeMethodName();
      headers = request.takeHeaders(limits.maxInboundMetadataLength(), acceptor.peer());
      authority(request.authority());
      if (!findMethod(name)) {
        return null;
      }
      if (method.getMethodDescriptor().getType() != MethodDescriptor.MethodType.UNARY) {
        new StreamingServerCall<>(acceptor, session, stream, method).begin(); // known by name only
        return null;
      }
      if (headers == null) {
        refuse(
            Status.RESOURCE_EXHAUSTED.withDescription(
                "metadata exceeds maximum size " + limits.maxInboundMetadataLength()));
        return null;
      }
      final Status unreadable = learnEncoding(headers);
      if (unreadable != null || (isCompressed() && !canDecompress())) {
        refuse(unreadable == null ? Encoding.NOT_CONFIGURED : unreadable);
        return null;
      }
      messageOffset = request.messageOffset();
      messageLength = request.messageLength();
    }
    if (messageLength > limits.maxInboundMessageLength()) {
      refuse(
          Status.RESOURCE_EXHAUSTED.withDescription(
              Units.tooLong(limits.maxInboundMessageLength(), messageLength)));
      return null;
    }
    return headers;
  }

  private ReqT parseCompressed(InputStream input) throws IOException {
    return method
        .getMethodDescriptor()
        .parseRequest(encoding.read(input, acceptor.limits().maxInboundMessageLength()));
  }

  private boolean isCompressed() {
    return (stream.inboundFlags() & COMPRESSED) != 0;
  }

  /**
   * Answers on the call's own stream, which then serves the next call; no other thread knows it
   * yet.
   */
  @Override
  void refuse(Status status) {
    requestRead = true;
    close(status, null);
  }

  @Override
  void deliverInbound() throws IOException {
    if (halfClosed || isAnswered()) {
      return;
    }
    if (messageLength >= 0) {
      if (!wantsMessage()) {
        return; // the handler has to ask first
      }
      try (MessageInput input = new MessageInput(stream.inbound(), messageOffset, messageLength)) {
        final ReqT message =
            isCompressed()
                ? parseCompressed(input)
                : method.getMethodDescriptor().parseRequest(input);
        messageLength = -1;
        listener.onMessage(message);
      }
    }
    halfClosed = true;
    requestRead = true;
    if (!isAnswered()) {
      listener.onHalfClose();
    }
  }

  @Override
  void afterEnd() {
    // The work after a cancel was done with the end, or follows with the answer.
  }
}
