package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.COMPRESSED;
import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.TRAILERS;

import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import dev.ringfetch.session.owner.SharedField;
import dev.ringfetch.session.unit.UnitBuffer;
import dev.ringfetch.session.unit.Units;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A unary call at the server: its request is in the stream when it begins. It stages headers and
 * message of the response into the stream, and passes the stream on with the status when the
 * handler closes.
 *
 * <p>The stream serves another call as soon as the answer is written. So exactly one answer may be
 * given, by the thread that moves the call to {@link #ANSWERED}, and no thread may begin to write
 * into the stream afterwards. If a thread is writing at that moment (the handler threw, but has
 * given the call to another thread; or the call is closed while another thread stages), the answer
 * goes out of a stream of its own. The stream of a call that the handler has not closed is left to
 * garbage collection.
 */
final class UnaryServerCall<ReqT, RespT> extends ServerCallTask<ReqT, RespT> {
  private static final VarHandle STATE = SharedField.of(MethodHandles.lookup(), "state", int.class);

  private static final int OPEN = 0;
  private static final int STAGING = 1; // a thread writes into the stream
  private static final int ANSWERED = 2;
  private static final int BROKEN = 3; // answered, because the handler used the call wrongly

  /** True when no thread reads the inbound unit any more. */
  volatile boolean requestRead;

  // Owned by the handler.
  private boolean messageSent;
  private volatile boolean closed;

  private int flags; // owned by the staging thread

  @SuppressWarnings("unused") // through STATE
  private volatile int state;

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

  /** True when the call has its answer. */
  @Override
  final boolean isAnswered() {
    return (int) STATE.getVolatile(this) >= ANSWERED;
  }

  @Override
  final boolean isBroken() {
    return (int) STATE.getVolatile(this) == BROKEN;
  }

  /**
   * Gives the right to answer to one caller. Returns the state before, which is a final one for all
   * other callers.
   */
  private int take(int how) {
    int before;
    do {
      before = (int) STATE.getVolatile(this);
    } while (before < ANSWERED && !STATE.compareAndSet(this, before, how));
    return before;
  }

  /**
   * Takes the exclusive right to write into the stream. False when the call has its answer, so that
   * the write is dropped.
   */
  private boolean stage() {
    final int before = (int) STATE.compareAndExchange(this, OPEN, STAGING);
    checkState(before != STAGING, "call is used by two threads at a time");
    return before == OPEN;
  }

  private void staged() {
    STATE.compareAndSet(this, STAGING, OPEN); // or it was answered meanwhile
  }

  @Override
  public final void sendHeaders(Metadata headers) {
    checkState(!headersSent, "sendHeaders has already been called");
    checkState(!closed, "call is closed");
    headersSent = true;
    tellEncoding(headers);
    if (!Sections.isEmpty(headers) && stage()) {
      final UnitBuffer unit = stream.outbound();
      final int before = unit.length();
      try {
        Sections.addMetadata(unit, headers);
        flags |= METADATA;
      } catch (RuntimeException | Error e) {
        unit.truncate(before);
        throw e;
      } finally {
        staged();
      }
    }
  }

  @Override
  public final void sendMessage(RespT message) {
    checkState(headersSent, "sendHeaders has not been called");
    checkState(!closed, "call is closed");
    if (messageSent) {
      breakOff(Status.INTERNAL.withDescription("Too many responses"));
      return;
    }
    messageSent = true;
    if (cancelled || !stage()) {
      return;
    }
    final UnitBuffer unit = stream.outbound();
    try {
      flags |=
          Encoding.write(
              encoding,
              getMethodDescriptor().streamResponse(message),
              unit,
              Integer.MAX_VALUE,
              session.bulk());
      staged();
    } catch (IOException | RuntimeException e) {
      breakOff(Status.fromThrowable(e));
    } catch (Error e) {
      breakOff(Status.CANCELLED.withDescription("Server sendMessage() failed with Error"));
      throw e;
    }
  }

  @Override
  public final void close(Status status, Metadata trailers) {
    checkState(!closed, "call already closed");
    closed = true;
    if (status.isOk() && !messageSent) {
      breakOff(Status.INTERNAL.withDescription("Completed without a response"));
    } else if (STATE.compareAndSet(this, OPEN, ANSWERED)) {
      try {
        respond(status, trailers, requestRead);
      } finally {
        signal(DELIVER);
      }
    } else {
      breakOff(Status.INTERNAL.withDescription("Closed while another thread used the call"));
    }
  }

  /** Sends what was staged with this status. The stream is not touched afterwards. */
  private void respond(Status status, Metadata trailers, boolean reusable) {
    if (cancelled) {
      letGo();
      return;
    }
    final int response;
    try {
      response = finish(stream.outbound(), headersSent ? flags | PREFIX : flags, status, trailers);
    } catch (RuntimeException | Error e) { // trailers that cannot be serialised
      respondInstead(Status.fromThrowable(e));
      throw e;
    }
    session.respond(stream, response, status.getCode().value(), reusable);
  }

  /** Ends the call for both sides, because the handler or its marshaller has used it wrongly. */
  private void breakOff(Status status) {
    if (take(BROKEN) < ANSWERED) {
      respondInstead(status);
    }
    signal(DELIVER);
  }

  /** Answers with this status and the headers that were sent. */
  @Override
  final boolean answer(Status status) {
    final int before = take(ANSWERED);
    if (before == OPEN) {
      respond(status, null, false); // another thread may be using the call
    } else if (before == STAGING) {
      respondInstead(status);
    }
    return before < ANSWERED;
  }

  private void respondInstead(Status status) {
    if (cancelled) {
      letGo();
      return;
    }
    try {
      final ServerStream own = ServerStream.substitute();
      final int response = finish(own.outbound(), 0, status, null);
      session.respondInstead(stream, own, response, status.getCode().value());
    } catch (Throwable t) { // there is no memory for another answer, and no other thread gives one
      session.doom();
      throw t;
    }
  }

  /** Releases the stream after the session has answered; until then the session counts the call. */
  private void letGo() {
    session.respond(stream, 0, 0, false);
  }

  /** Adds status and trailers to a unit. Returns its flags. */
  static int finish(UnitBuffer unit, int flags, Status status, Metadata trailers) {
    int response = flags | SUFFIX;
    if (status.getDescription() != null) {
      Sections.addDescription(unit, status.getDescription(), Units.MAX_DESCRIPTION_LENGTH);
      response |= DESCRIPTION;
    }
    if (trailers != null && !Sections.isEmpty(trailers)) {
      Sections.discardReserved(trailers);
      Sections.addTrailers(unit, trailers);
      response |= TRAILERS;
    }
    return response;
  }

  @Override
  public final boolean isReady() {
    return !closed && !cancelled && !isAnswered();
  }
}
