package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import dev.ringfetch.session.poller.InlineTask;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.Attributes;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The reusable call of a server's stream, for methods with a handler on bytes: runs the handler on
 * the thread that has the request, then sends the answer. It allocates nothing for a call that the
 * handler answers. A call that needs more, or that the handler leaves to another thread, becomes an
 * ordinary {@link UnaryServerCall}.
 *
 * <p>Used by one thread at a time: the poller's thread prepares the call, the thread with the
 * poller's lease runs it. The stream serves another request as soon as the answer is written, so
 * {@link #send} is the last access of a run to what belongs to the call.
 */
public abstract class BareServerCall implements InlineTask {
  private static final int WHOLE = PREFIX | MESSAGE | SUFFIX;

  private final CallAcceptor acceptor;
  private final ServerSession session;
  private final ServerStream stream;
  private Method method;
  private TaskRecord record; // null: the call runs at once
  private InlineTask nextInLine;
  private int responseFlags;
  private int responseCode;

  /** Creates the reusable call of a stream. */
  protected BareServerCall(CallAcceptor acceptor, ServerSession session, ServerStream stream) {
    this.acceptor = acceptor;
    this.session = session;
    this.stream = stream;
  }

  /** A method's handler on bytes. */
  public interface Method extends ServerCallHandler<byte[], byte[]> {
    /** Creates the reusable call of a stream, for all such methods. */
    BareServerCall newCall(CallAcceptor acceptor, ServerSession session, ServerStream stream);

    /** The method with this handler. */
    ServerMethodDefinition<byte[], byte[]> definition();

    /** The method with the handler that serves the calls that this one declines. */
    ServerMethodDefinition<?, ?> declined();
  }

  /**
   * Runs a request's call, now or as a task of the poller.
   *
   * @param record of the method, or null.
   * @param atOnce whether the server's executor is the calling thread.
   * @return false if an ordinary call has to serve the request.
   */
  static boolean begin(
      CallAcceptor acceptor,
      ServerSession session,
      ServerStream stream,
      Method method,
      TaskRecord record,
      boolean atOnce) {
    if ((stream.inboundFlags() & ~DEADLINE) != WHOLE
        || stream.inboundTotal() > acceptor.limits().maxInboundMessageLength()
        || !(atOnce || (record != null && record.isTrusted()))) {
      return false;
    }
    BareServerCall call = (BareServerCall) stream.reusableCall();
    if (call == null) {
      call = method.newCall(acceptor, session, stream);
      stream.reusableCall(call);
    }
    call.method = method;
    call.record = record;
    if (!atOnce) {
      return session.offer(call);
    }
    call.runInline();
    return true;
  }

  @Override
  public final void runInline() {
    boolean served = false;
    try {
      if (stream.isCancelled()) {
        session.release(stream);
      } else {
        final int skipped = (stream.inboundFlags() & DEADLINE) == 0 ? 0 : Long.BYTES;
        final UnitBuffer unit = stream.inbound();
        if (!handle(method, unit.array(), unit.offset() + skipped, unit.length() - skipped)) {
          become(method.declined());
        }
      }
      served = true;
    } finally {
      if (!served) {
        session.doom(); // nothing else would tell the client
      }
    }
  }

  /**
   * Runs the handler, and sends its answer.
   *
   * @return false if it has declined the call.
   */
  protected abstract boolean handle(Method called, byte[] request, int offset, int length);

  /** The method of the present call, with its handler on bytes. */
  protected final ServerMethodDefinition<byte[], byte[]> definition() {
    return method.definition();
  }

  /** The full name of the method of the present call. */
  public final String method() {
    return definition().getMethodDescriptor().getFullMethodName();
  }

  /** Serves the request on the calling thread as an ordinary call of a method. */
  protected final void become(ServerMethodDefinition<?, ?> definition) {
    new UnaryServerCall<>(acceptor, session, stream, definition, null).beginHere();
  }

  /** Serves the request on another thread. No record: the poller is not asked again. */
  @Override
  public final void handOver() {
    new UnaryServerCall<>(acceptor, session, stream, method.definition(), null).begin();
  }

  /** Copies an answer into the stream, in place of an earlier one. */
  public final void put(byte[] message, int offset, int length) {
    final UnitBuffer unit = emptied();
    if (length <= session.bulk().threshold()) {
      unit.addBytes(message, offset, length);
    } else {
      try {
        Messages.write(
            new ByteArrayInputStream(message, offset, length),
            unit,
            Integer.MAX_VALUE,
            session.bulk());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    responseFlags = WHOLE;
    responseCode = Status.Code.OK.value();
  }

  /** Puts an error in the place of an answer. */
  public final void putFailure(Status status, Metadata trailers) {
    responseFlags = UnaryServerCall.finish(emptied(), 0, status, trailers);
    responseCode = status.getCode().value();
  }

  private UnitBuffer emptied() {
    final UnitBuffer unit = stream.outbound();
    if (unit.length() != 0) {
      unit.clear();
    }
    return unit;
  }

  /** Sends what was put. The session drops it if the call was cancelled. */
  public final void send() {
    session.respond(stream, responseFlags, responseCode, true);
  }

  /** True when the client does not wait for the answer any more. */
  public final boolean isCancelled() {
    return stream.isCancelled();
  }

  /** Time until the deadline in nanoseconds, or {@link BareCall#NO_TIMEOUT}. */
  public final long remainingNs() {
    final long deadlineNs = stream.deadlineNs();
    return deadlineNs == ServerStream.NO_DEADLINE
        ? BareCall.NO_TIMEOUT
        : deadlineNs - session.nanoTime();
  }

  /** Creates the headers of the request, which has none of its own. */
  public final Metadata headers() {
    final Request request = new Request(stream.inboundFlags(), stream.inbound());
    try {
      return request.takeHeaders(acceptor.limits().maxInboundMetadataLength(), acceptor.peer());
    } catch (MalformedUnitException e) { // there is no section that could be
      throw new IllegalStateException(e);
    }
  }

  /** As {@link ServerCall#getAttributes}. */
  public final Attributes attributes() {
    return acceptor.attributes();
  }

  @Override
  public final RunRecord record() {
    return record;
  }

  @Override
  public final InlineTask nextInLine() {
    return nextInLine;
  }

  @Override
  public final void nextInLine(InlineTask next) {
    nextInLine = next;
  }
}
