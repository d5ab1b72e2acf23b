package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.COMPRESSED;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.Flow;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import dev.ringfetch.session.owner.SharedField;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import dev.ringfetch.session.unit.Units;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * A server call of any kind, with any number of messages: each message of the handler leaves at
 * once, in its own unit, as the client's window allows.
 *
 * <p>The unit with the status is the last. {@link #answered} decides which thread offers it; units
 * that are offered after it are dropped.
 */
final class StreamingServerCall<ReqT, RespT> extends ServerCallTask<ReqT, RespT> {
  private static final VarHandle ANSWERED =
      SharedField.of(MethodHandles.lookup(), "answered", int.class);

  private static final int BY_CLOSE = 1;
  private static final int IN_ITS_STEAD = 2;
  private static final int BROKEN = 3;
  private static final ServerTracers NO_TRACERS =
      ServerTracers.of(List.of(), "", new Metadata()); // of a call that is refused

  private final Flow flow;

  // Owned by the task: the position of the message in the oldest unit that is left.
  private int messageOffset;
  private int messageLength = -1;
  private boolean isUnitRead;
  private Unit only; // the message of a client that is to send one, until it half-closes
  private int onlyOffset;
  private int onlyLength;

  private ServerTracers tracers = NO_TRACERS;
  private Context root;

  // Owned by the handler. The single message of a server leaves with the status, in one unit.
  private UnitBuffer staged;
  private int stagedFlags;
  private volatile Metadata stagedHeaders; // the headers, while they are in that unit
  private boolean messageSent;
  private volatile boolean closed;

  @SuppressWarnings("unused") // through ANSWERED
  private volatile int answered;

  StreamingServerCall(
      CallAcceptor acceptor,
      ServerSession session,
      ServerStream stream,
      ServerMethodDefinition<ReqT, RespT> method) {
    super(acceptor, session, stream, method, null);
    this.flow = stream.openFlow();
  }

  @Override
  Metadata readRequest() throws MalformedUnitException {
    final Unit first = flow.peek();
    final Request request = new Request(first.flags(), first.bytes());
    final String name = request.takeMethodName();
    final int maxLength = acceptor.limits().maxInboundMetadataLength();
    final Metadata headers = request.takeHeaders(maxLength, acceptor.peer());
    authority(request.authority());
    tracers =
        ServerTracers.of(
            acceptor.tracerFactories(),
            method == null ? name : method.getMethodDescriptor().getFullMethodName(),
            headers == null ? new Metadata() : headers);
    root = tracers.filter(acceptor.context());
    if (!findMethod(name)) {
      return null;
    }
    if (headers == null) {
      refuse(
          Status.RESOURCE_EXHAUSTED.withDescription("metadata exceeds maximum size " + maxLength));
      return null;
    }
    final Status unreadable = learnEncoding(headers);
    if (unreadable != null || (first.has(COMPRESSED) && !canDecompress())) {
      refuse(unreadable == null ? Encoding.NOT_CONFIGURED : unreadable);
      return null;
    }
    messageOffset = request.messageOffset();
    messageLength = request.messageLength();
    final int maxMessageLength = acceptor.limits().maxInboundMessageLength();
    if (messageLength > maxMessageLength) {
      refuse(
          Status.RESOURCE_EXHAUSTED.withDescription(
              Units.tooLong(maxMessageLength, messageLength)));
      return null;
    }
    isUnitRead = true;
    return headers;
  }

  @Override
  Context root() {
    return root;
  }

  @Override
  void onStarting() {
    tracers.started(this);
  }

  @Override
  void refuse(Status status) {
    answer(status);
  }

  @Override
  boolean answer(Status status) {
    return answer(status, null, IN_ITS_STEAD);
  }

  private boolean answer(Status status, Metadata trailers, int how) {
    if (!ANSWERED.compareAndSet(this, 0, how)) {
      return false;
    }
    final boolean whole = how == BY_CLOSE && sendsOneMessage();
    UnitBuffer bytes = whole ? target() : new UnitBuffer();
    int flags = whole ? stagedFlags : 0;
    int code = status.getCode().value();
    tracers.closed(status);
    try {
      if (how == IN_ITS_STEAD && stagedHeaders != null) { // another thread may have the unit
        flags = addHeaders(bytes, stagedHeaders);
      }
      flags = UnaryServerCall.finish(bytes, flags, status, trailers);
    } catch (RuntimeException | Error e) { // trailers that cannot be serialised
      final Status instead = Status.fromThrowable(e);
      bytes = new UnitBuffer();
      flags = UnaryServerCall.finish(bytes, 0, instead, null);
      code = instead.getCode().value();
      session.write(stream, new Unit(flags, code, bytes));
      throw e;
    }
    session.write(stream, new Unit(flags, code, bytes));
    return true;
  }

  /** The unit that the handler's next message goes to. */
  private UnitBuffer target() {
    if (!sendsOneMessage()) {
      return new UnitBuffer();
    }
    if (staged == null) {
      staged = new UnitBuffer();
    }
    return staged;
  }

  private boolean sendsOneMessage() {
    return method != null && method.getMethodDescriptor().getType().serverSendsOneMessage();
  }

  @Override
  boolean isAnswered() {
    return flow.isSent();
  }

  @Override
  boolean isBroken() {
    return (int) ANSWERED.getVolatile(this) == BROKEN;
  }

  /** Ends the call for both sides, because the handler has used it wrongly. */
  private void breakOff(Status status) {
    answer(status, null, BROKEN);
    signal(DELIVER);
  }

  @Override
  public void onFlow() {
    signal(DELIVER);
  }

  @Override
  void deliverInbound() throws IOException {
    if (flow.takeRoom() && !closed) {
      listener.onReady();
    }
    Unit unit;
    while (!cancelled && !isOver() && (unit = flow.peek()) != null) {
      if (!deliver(unit)) {
        return;
      }
    }
  }

  private boolean isOver() {
    return (int) ANSWERED.getVolatile(this) != 0;
  }

  /** Delivers a unit to the listener. False when it has to wait, or the call is over. */
  private boolean deliver(Unit unit) throws IOException {
    if (!isUnitRead) {
      isUnitRead = true;
      messageOffset = unit.bytes().offset();
      messageLength = unit.has(MESSAGE) ? unit.bytes().length() : -1;
      final int maxLength = acceptor.limits().maxInboundMessageLength();
      if (unit.discarded() || messageLength > maxLength) {
        breakOff(Status.RESOURCE_EXHAUSTED.withDescription(Units.tooLong(maxLength, unit.total())));
        return false;
      }
      if (unit.has(COMPRESSED) && !canDecompress()) {
        breakOff(Encoding.NOT_CONFIGURED);
        return false;
      }
    }
    if (messageLength >= 0) {
      if (!wantsMessage()) {
        return false;
      }
      countMessage();
      session.consumed(stream, unit);
      if (only != null) {
        breakOff(Status.INTERNAL.withDescription("Too many requests"));
        return false;
      }
      if (!unit.has(SUFFIX) && method.getMethodDescriptor().getType().clientSendsOneMessage()) {
        only = unit;
        onlyOffset = messageOffset;
        onlyLength = messageLength;
        isUnitRead = false;
        flow.remove();
        return true;
      }
      deliverMessage(unit);
    }
    isUnitRead = false;
    flow.remove();
    unit.bytes().clear();
    if (unit.has(SUFFIX)) {
      deliverHalfClose();
    }
    return true;
  }

  private void deliverMessage(Unit unit) throws IOException {
    try (MessageInput input = new MessageInput(unit.bytes(), messageOffset, messageLength)) {
      final ReqT message = parse(input, unit);
      messageLength = -1;
      listener.onMessage(message);
    }
  }

  /**
   * Delivers the half-close. As in gRPC's server, a single request message is delivered only now,
   * when it is known to be the only one.
   */
  private void deliverHalfClose() throws IOException {
    final Unit before = only;
    if (before != null) {
      only = null;
      messageOffset = onlyOffset;
      messageLength = onlyLength;
      deliverMessage(before);
      before.bytes().clear();
    }
    if (!isOver()) {
      listener.onHalfClose();
    }
  }

  private ReqT parse(MessageInput input, Unit unit) throws IOException {
    if (!unit.has(COMPRESSED)) {
      tracers.inboundMessage(messageLength);
      return method.getMethodDescriptor().parseRequest(input);
    }
    tracers.inboundCompressed(messageLength);
    final Encoding.Decompressed message =
        encoding.read(input, acceptor.limits().maxInboundMessageLength());
    final ReqT parsed = method.getMethodDescriptor().parseRequest(message);
    tracers.inboundDecompressed(message.length());
    return parsed;
  }

  @Override
  void onCancelTold() {
    tracers.closed(Status.CANCELLED);
  }

  @Override
  void afterEnd() {
    if (only != null) { // the handler may keep this call
      only.bytes().clear();
      only = null;
    }
    if (cancelled) { // before its last unit had left: the session counts the call
      session.release(stream);
    }
  }

  @Override
  public void sendHeaders(Metadata headers) {
    checkState(!headersSent, "sendHeaders has already been called");
    checkState(!closed, "call is closed");
    headersSent = true;
    tellEncoding(headers);
    final UnitBuffer bytes = target();
    send(addHeaders(bytes, headers), bytes);
    if (bytes == staged) {
      stagedHeaders = headers;
    }
  }

  @Override
  public void setOnReadyThreshold(int bytes) {
    flow.readyLength(bytes);
  }

  private static int addHeaders(UnitBuffer bytes, Metadata headers) {
    if (Sections.isEmpty(headers)) {
      return PREFIX;
    }
    Sections.addMetadata(bytes, headers);
    return PREFIX | METADATA;
  }

  @Override
  public void sendMessage(RespT message) {
    checkState(headersSent, "sendHeaders has not been called");
    checkState(!closed, "call is closed");
    if (messageSent && sendsOneMessage()) {
      breakOff(Status.INTERNAL.withDescription("Too many responses"));
      return;
    }
    messageSent = true;
    if (cancelled || isOver()) {
      return;
    }
    final UnitBuffer bytes = target();
    final int before = bytes.length();
    final int flags;
    try {
      flags =
          Encoding.write(
              encoding,
              method.getMethodDescriptor().streamResponse(message),
              bytes,
              Integer.MAX_VALUE,
              session.bulk());
    } catch (IOException | RuntimeException e) {
      breakOff(Status.fromThrowable(e));
      return;
    } catch (Error e) {
      breakOff(Status.CANCELLED.withDescription("Server sendMessage() failed with Error"));
      throw e;
    }
    final int length = bytes.length() - before;
    tracers.outboundMessage(length, Encoding.lengthBefore(encoding, flags, length));
    send(flags, bytes);
  }

  private void send(int flags, UnitBuffer bytes) {
    if (bytes == staged) {
      stagedFlags |= flags;
    } else if (!cancelled && !isOver()) {
      session.write(stream, new Unit(flags, 0, bytes));
    } else {
      bytes.clear();
    }
  }

  @Override
  public void close(Status status, Metadata trailers) {
    checkState(!closed, "call already closed");
    closed = true;
    if (status.isOk() && !messageSent && sendsOneMessage()) {
      breakOff(Status.INTERNAL.withDescription("Completed without a response"));
    } else {
      answer(status, trailers, BY_CLOSE);
    }
  }

  @Override
  public boolean isReady() {
    return !closed && !cancelled && !isOver() && flow.isReady();
  }
}
