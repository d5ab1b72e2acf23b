package dev.ringfetch.call;

import dev.ringfetch.session.ClientSession;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Compressor;
import io.grpc.Deadline;
import io.grpc.Decompressor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;

/**
 * The base of all kinds of client calls: keeps the connection, the deadline, and the number of
 * requested messages. It is a superclass instead of a separate object, as {@link CallTask} is.
 */
abstract class OutgoingCall<ReqT, RespT> extends CallTask<ReqT, RespT> {
  private static final VarHandle REQUESTED;

  static {
    try {
      REQUESTED = MethodHandles.lookup().findVarHandle(OutgoingCall.class, "requested", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  CallOptions options;

  ClientConnection connection;
  ClientLimits limits;
  Deadline deadline;
  long startedNs;

  /** The compression; null while messages are not compressed. */
  Encoding encoding;

  @SuppressWarnings("unused") // through REQUESTED
  private volatile int requested;

  OutgoingCall(MethodDescriptor<ReqT, RespT> method, CallOptions options, Executor executor) {
    super(method, executor);
    this.options = options;
  }

  /**
   * Writes into the headers how messages will be compressed, if the options ask for that.
   *
   * @return why they cannot be, or null.
   */
  final Status tellEncoding(Metadata headers) {
    if (!Sections.isEmpty(headers)) {
      headers.discardAll(Encoding.NAME); // the options set it, not the caller's headers
    }
    final String name = options.getCompressor();
    if (name == null) {
      return null;
    }
    final Compressor compressor = connection.codecs().compressors().lookupCompressor(name);
    if (compressor == null) {
      return Status.INTERNAL.withDescription("Unable to find compressor by name " + name);
    }
    if (Encoding.orNone(compressor) != null) {
      encoding = new Encoding();
      encoding.compressor(compressor);
      headers.put(Encoding.NAME, compressor.getMessageEncoding());
    }
    return null;
  }

  /**
   * Reads from a response's headers how its messages are compressed.
   *
   * @return why they cannot be read, or null.
   */
  final Status learnEncoding(Metadata headers) {
    final String name = headers.get(Encoding.NAME);
    if (name == null) {
      return null;
    }
    final Decompressor decompressor = connection.codecs().decompressors().lookupDecompressor(name);
    if (decompressor == null) {
      return Status.INTERNAL.withDescription("Can't find decompressor for " + name);
    }
    if (encoding == null) {
      encoding = new Encoding();
    }
    encoding.decompressor(Encoding.orNone(decompressor));
    return null;
  }

  final boolean canDecompress() {
    return encoding != null && encoding.canDecompress();
  }

  /** Ends the call with a status, if it has not ended before. Any thread. */
  abstract void cancelNow(Status status);

  /** Counts messages that the listener requests; returns how many it was waiting for before. */
  final int addRequested(int numMessages) {
    if (numMessages < 0) {
      throw new IllegalArgumentException("numMessages=" + numMessages);
    }
    final int before = (int) REQUESTED.getAndAdd(this, numMessages);
    if (before + numMessages < 0) {
      REQUESTED.setVolatile(this, Integer.MAX_VALUE);
    }
    return before;
  }

  /** True when the listener has asked for a message that it has not got. */
  final boolean wantsMessage() {
    return requested > 0;
  }

  /** Counts a message that the listener gets. */
  final void countMessage() {
    REQUESTED.getAndAdd(this, -1);
  }

  /**
   * Takes the number of messages requested since the last time, to request them of another call.
   */
  protected final int takeRequested() {
    return (int) REQUESTED.getAndSet(this, 0);
  }

  @Override
  public void cancel(String message, Throwable cause) {
    final Status status =
        Status.CANCELLED.withDescription(
            message != null ? message : "Call cancelled without message");
    cancelNow(cause == null ? status : status.withCause(cause));
  }

  /** The status of a call that has passed its deadline. */
  final Status exceeded() {
    return Deadlines.exceeded(deadline, options, startedNs, connection.session().describe());
  }

  private boolean isLate() {
    return deadline != null && deadline.isExpired();
  }

  /**
   * Returns the status to report: DEADLINE_EXCEEDED once the deadline has passed, as a cancel then
   * comes too late.
   */
  final Status orExceeded(Status status) {
    return isLate() && status.getCode() == Status.Code.CANCELLED ? exceeded() : status;
  }

  /** The status of a call on a session that has ended. */
  final Status sessionEnded() {
    return isLate()
        ? exceeded()
        : Status.UNAVAILABLE.withDescription(
            "ring session ended: " + connection.session().endReason());
  }

  /**
   * True when the server has noticed first that the deadline has passed.
   *
   * @param closed whether it came as a CLOSE, which no handler sends.
   */
  final boolean isLate(Status received, boolean closed) {
    return switch (received.getCode()) {
      case DEADLINE_EXCEEDED -> deadline != null && closed;
      case CANCELLED -> isLate();
      default -> false;
    };
  }

  /** Closes the listener; nothing is delivered to it afterwards. */
  final void tellClosed(Listener<RespT> listener, Status status, Metadata trailers) {
    try {
      listener.onClose(status, trailers);
    } catch (RuntimeException e) {
      log("failure in onClose of", e);
    } catch (Error e) {
      log("failure in onClose of", e);
      throw e;
    }
  }

  final void log(String what, Throwable e) {
    System.getLogger(OutgoingCall.class.getName())
        .log(System.Logger.Level.WARNING, what + " " + method.getFullMethodName(), e);
  }

  @Override
  final ClientSession session() {
    return connection == null ? null : connection.session();
  }

  @Override
  public void setMessageCompression(boolean enabled) {
    if (encoding != null) {
      encoding.enabled(enabled);
    }
  }

  @Override
  public Attributes getAttributes() {
    return connection == null ? Attributes.EMPTY : connection.attributes();
  }
}
