package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.COMPRESSED;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.owner.SharedField;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Decompressor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * A reusable unary call of bytes over a ring, without metadata, marshallers and executor. It makes
 * one call after the other, and allocates nothing for a call that is answered.
 *
 * <p>One thread at a time makes calls; any thread may cancel. A call that is cancelled, or answered
 * in several units, is the last of its object, because a notification from the session may still be
 * on its way.
 */
public abstract class BareCall implements ClientStream.AnswerListener, Runnable {
  /** No deadline. */
  public static final long NO_TIMEOUT = ClientStream.NO_DEADLINE;

  /** The status of a call that has more than one answer. */
  public static final Status TOO_MANY_ANSWERS =
      Status.INTERNAL.withDescription("More than one value received for unary call");

  /** The status of a call that ends OK, but without an answer. */
  public static final Status NO_ANSWER =
      Status.INTERNAL.withDescription("No value received for unary call");

  private static final VarHandle STATE = SharedField.of(MethodHandles.lookup(), "state", int.class);
  private static final VarHandle LENT = SharedField.of(MethodHandles.lookup(), "lent", long.class);

  private static final int IDLE = 0;
  private static final int SENT = 1;
  private static final int ENDED = 2; // and not delivered yet
  private static final int CANCELLED = 3;
  private static final int CONTINUED = 4; // as another call, which has the stream

  private static final Metadata NO_HEADERS = new Metadata();

  private final MethodDescriptor<byte[], byte[]> method;
  private final ClientLimits limits;

  private ClientConnection connection;
  private int methodId; // of the connection
  private ClientStream stream;
  private int requestLength;
  private long timeoutNs;
  private long deadlineNs; // in terms of the session's clock
  private ClientStream.Outcome outcome;
  private StreamingClientCall<byte[], byte[]> continuation; // guarded by its stream

  // The number of the answer that was delivered last, until the listener releases it. A number, not
  // the stream, because the next answer may be on the same stream.
  private volatile long lent; // 0: none
  private long answers;
  private ClientStream lentStream;
  private ClientSession lender;

  @SuppressWarnings("unused") // through STATE
  private volatile int state;

  /**
   * Creates a reusable call.
   *
   * @param method of which only the name is used, unless an answer comes in several units.
   */
  protected BareCall(MethodDescriptor<byte[], byte[]> method, ClientLimits limits) {
    this.method = method;
    this.limits = limits;
  }

  /**
   * Prepares a call, which is to be {@linkplain #send sent} next.
   *
   * @param request bytes, copied.
   * @param timeoutNs until its deadline, or {@link #NO_TIMEOUT}.
   * @return null; if this ring does not take the call, the request in an array of its own.
   */
  public final byte[] prepare(
      ClientConnection ring, byte[] request, int offset, int length, long timeoutNs) {
    final ClientSession session = ring.session();
    if (length > session.bulk().threshold()) {
      return Arrays.copyOfRange(request, offset, offset + length);
    }
    byte[] source = request;
    int start = offset;
    ClientStream opened = session.open();
    if (opened == null && lent != 0) { // the stream of the answer that the listener reads
      source = Arrays.copyOfRange(request, offset, offset + length); // perhaps the answer
      start = 0;
      recycleLent();
      opened = session.open();
    }
    if (opened == null) {
      return source == request ? Arrays.copyOfRange(request, offset, offset + length) : source;
    }
    if (ring != connection) {
      methodId = ring.methodId(method);
      connection = ring;
    }
    boolean prepared = false;
    try {
      prepare(opened, source, start, length, timeoutNs);
      prepared = true;
    } finally {
      if (!prepared) {
        session.recycle(opened);
      }
    }
    stream = opened;
    return null;
  }

  /**
   * Sends the call that was prepared. It ends by {@link #ended}, perhaps before this returns.
   *
   * @param poll the calling thread waits for the end, and may poll for it.
   */
  public final void send(boolean poll) {
    final ClientSession session = connection.session();
    final ClientStream opened = stream; // a next call may have begun when this one has been sent
    state = SENT;
    begins();
    if (poll && BlockingStubs.maySpin()) {
      session.sendAndPoll(opened);
    } else {
      session.send(opened);
    }
  }

  private void prepare(ClientStream opened, byte[] request, int offset, int length, long wantedNs) {
    timeoutNs = wantedNs > NO_TIMEOUT / 2 ? NO_TIMEOUT : wantedNs; // clocks may be that far
    final UnitBuffer unit = opened.outbound();
    final int sections = Requests.addSections(unit, timeoutNs, NO_HEADERS, null);
    unit.addBytes(request, offset, length);
    requestLength = length;
    deadlineNs = Requests.deadlineNs(connection.session(), timeoutNs);
    opened.prepare(
        this, PREFIX | MESSAGE | SUFFIX | sections, methodId, deadlineNs, limits.maxUnitLength());
  }

  /**
   * Cancels the call that is under way.
   *
   * @return false if there is none, or its end comes first; otherwise its end is not reported.
   */
  public final boolean cancel() {
    if (!STATE.compareAndSet(this, SENT, CANCELLED)) {
      return false;
    }
    connection.session().cancel(stream);
    return true;
  }

  @Override
  public final void onClosed(ClientStream closed, ClientStream.Outcome how) {
    outcome = how; // visible with the state; not read after a cancel
    if (STATE.compareAndSet(this, SENT, ENDED)) {
      ended();
      return;
    }
    switch (how) {
      case ANSWERED, DEADLINE_EXCEEDED, TOO_MANY_RESPONSES ->
          connection.session().release(closed, true);
      case NOT_SENT, SESSION_ENDED -> {} // nothing to do
    }
  }

  /** As {@link UnaryClientCall#onFlow}. */
  @Override
  public final void onFlow(ClientStream flowing) {
    final StreamingClientCall<byte[], byte[]> other = continuation(flowing);
    if (STATE.compareAndSet(this, SENT, CONTINUED)) {
      continued(other);
    }
    if (state == CONTINUED) {
      other.onFlow();
    }
  }

  private StreamingClientCall<byte[], byte[]> continuation(ClientStream flowing) {
    synchronized (flowing) {
      if (continuation == null) {
        // the call's context; this may run on any thread
        final Context before = Context.ROOT.attach();
        try {
          final Deadline deadline =
              deadlineNs == NO_TIMEOUT ? null : Deadline.after(remainingNs(), TimeUnit.NANOSECONDS);
          final StreamingClientCall<byte[], byte[]> made =
              new StreamingClientCall<>(
                  method,
                  CallOptions.DEFAULT.withDeadline(deadline),
                  DirectExecutor.INSTANCE,
                  connection,
                  limits,
                  flowing);
          made.halfClosed(
              continuationListener(), deadline, System.nanoTime() - (timeoutNs - remainingNs()));
          continuation = made;
        } finally {
          Context.ROOT.detach(before);
        }
      }
      return continuation;
    }
  }

  /**
   * Recycles the delivered answer; on the listener's thread, or the one that makes the next call.
   */
  private void recycleLent() {
    if ((long) LENT.getAndSet(this, 0L) != 0) {
      lender.recycle(lentStream);
    }
  }

  /** True while a call is under way. */
  protected final boolean isSent() {
    return state == SENT;
  }

  /** The poller that runs the notifications of this object's calls. */
  protected final Poller poller() {
    return connection.session().poller();
  }

  /** Called when a call is under way on the ring. */
  protected abstract void begins();

  /** Creates the listener for the call that receives an answer of several units. */
  protected abstract ClientCall.Listener<byte[]> continuationListener();

  /** Called when another call receives the answer, before that call's listener gets anything. */
  protected abstract void continued(ClientCall<byte[], byte[]> other);

  /**
   * Called when the call has ended: the callee schedules {@link #run}. Any thread, without
   * ownership.
   */
  protected abstract void ended();

  /** Reports the end of the call to one of the methods below; each may start the next call. */
  @Override
  public final void run() {
    final ClientSession session = connection.session();
    final ClientStream closed = stream;
    state = IDLE;
    switch (outcome) {
      case ANSWERED -> {
        recycleLent(); // of a listener that has not returned, and has started this call
        final long answer = ++answers;
        lender = session;
        lentStream = closed;
        lent = answer;
        try {
          deliverAnswer(closed);
        } finally {
          if (LENT.compareAndSet(this, answer, 0L)) {
            session.recycle(closed);
          }
        }
      }
      case DEADLINE_EXCEEDED -> {
        session.release(closed, false);
        failed(exceeded(), new Metadata());
      }
      case TOO_MANY_RESPONSES -> {
        session.release(closed, false);
        failed(TOO_MANY_ANSWERS, new Metadata());
      }
      case NOT_SENT -> unsent(takeRequest(closed.outbound()), remainingNs());
      case SESSION_ENDED ->
          failed(
              isLate()
                  ? exceeded()
                  : Status.UNAVAILABLE.withDescription(
                      "ring session ended: " + session.endReason()),
              new Metadata());
    }
  }

  /**
   * Called when the call was answered.
   *
   * @param array contains the answer until this method returns, or starts the next call.
   */
  protected abstract void answered(byte[] array, int offset, int length);

  /** Called when the call has failed. */
  protected abstract void failed(Status status, Metadata trailers);

  /**
   * Called when the server cannot have seen the call, because the session has ended.
   *
   * @param request the bytes, which the callee may keep.
   * @param remainingNs until the deadline, perhaps negative, or {@link #NO_TIMEOUT}.
   */
  protected abstract void unsent(byte[] request, long remainingNs);

  /** Delivers an answer; almost every one has the status OK and no sections. */
  private void deliverAnswer(ClientStream closed) {
    final UnitBuffer unit = closed.inbound();
    if (closed.inboundFlags() == (PREFIX | MESSAGE | SUFFIX)
        && ProcessTime.status(closed.inboundCode()) == 0
        && !closed.inboundDiscarded()
        && unit.length() <= limits.maxInboundMessageLength()) {
      answered(unit.array(), unit.offset(), unit.length());
      return;
    }
    Status status;
    Metadata trailers = new Metadata();
    byte[] message = null;
    int offset = 0;
    int length = -1;
    try { // the listener is called outside: its exceptions are no fault of the answer
      final Response response = Response.read(closed, limits);
      final boolean late = isLate(response.status, (closed.inboundFlags() & CLOSE) != 0);
      status = late ? exceeded() : response.status;
      trailers = late ? trailers : response.trailers;
      if (response.messageLength >= 0 && (closed.inboundFlags() & COMPRESSED) != 0) {
        message = decompress(response, unit);
        length = message.length;
      } else {
        message = unit.array();
        offset = response.messageOffset;
        length = response.messageLength;
      }
    } catch (StatusRuntimeException e) {
      status = e.getStatus();
    } catch (Throwable t) {
      status = Status.CANCELLED.withDescription("Failed to read message.").withCause(t);
    }
    if (!status.isOk()) {
      failed(status, trailers);
    } else if (length < 0) {
      failed(NO_ANSWER, trailers);
    } else {
      answered(message, offset, length);
    }
  }

  private byte[] decompress(Response response, UnitBuffer unit) throws IOException {
    final String name = response.headers == null ? null : response.headers.get(Encoding.NAME);
    final Decompressor decompressor =
        name == null ? null : connection.codecs().decompressors().lookupDecompressor(name);
    if (Encoding.orNone(decompressor) == null) {
      throw Encoding.NOT_CONFIGURED.asRuntimeException();
    }
    final Encoding encoding = new Encoding();
    encoding.decompressor(decompressor);
    try (MessageInput input =
        new MessageInput(unit, response.messageOffset, response.messageLength)) {
      return encoding.read(input, limits.maxInboundMessageLength()).readAllBytes();
    }
  }

  private byte[] takeRequest(UnitBuffer unit) {
    final byte[] request = new byte[requestLength];
    final int end = unit.offset() + unit.length();
    System.arraycopy(unit.array(), end - requestLength, request, 0, requestLength);
    return request;
  }

  private long remainingNs() {
    return deadlineNs == NO_TIMEOUT ? NO_TIMEOUT : deadlineNs - connection.session().nanoTime();
  }

  /** True when the deadline of the call has passed. */
  protected final boolean isLate() {
    return remainingNs() <= 0;
  }

  /** As {@link OutgoingCall#isLate}. */
  private boolean isLate(Status received, boolean closed) {
    return switch (received.getCode()) {
      case DEADLINE_EXCEEDED -> deadlineNs != NO_TIMEOUT && closed;
      case CANCELLED -> isLate();
      default -> false;
    };
  }

  /** The status of a call that has ended at its deadline. */
  protected final Status exceeded() {
    return Deadlines.exceeded(
        "UnaryCall", timeoutNs - remainingNs(), connection.session().describe());
  }
}
