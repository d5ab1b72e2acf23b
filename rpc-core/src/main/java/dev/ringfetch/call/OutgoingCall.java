package dev.ringfetch.call;

import dev.ringfetch.session.poller.Poller;
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
 * What calls of a client have in common, whatever kind they are of: the connection that they are
 * made on, the deadline, the messages that are asked for. A superclass, as {@link CallTask} is, and
 * no object of its own.
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

  final MethodDescriptor<ReqT, RespT> method;
  final CallOptions options;

  ClientConnection connection;
  ClientLimits limits;
  Deadline deadline;
  long startedNs;

  /** Null while messages come and go as they are. */
  Encoding encoding;

  @SuppressWarnings("unused") // through REQUESTED
  private volatile int requested;

  OutgoingCall(MethodDescriptor<ReqT, RespT> method, CallOptions options, Executor executor) {
    super(executor);
    this.method = method;
    this.options = options;
  }

  /**
   * Says in the headers how messages will be compressed, if the options ask for that.
   *
   * @return why they cannot be, or null.
   */
  final Status tellEncoding(Metadata headers) {
    if (!Sections.isEmpty(headers)) {
      headers.discardAll(Encoding.NAME); // whatever the caller says: it is the options' to say
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
   * Learns from a response's headers how its messages are compressed.
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

  /** Counts messages that the listener asks for, and returns how many it was waiting for before. */
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

  /** The listener gets one of those that it has asked for. */
  final void countMessage() {
    REQUESTED.getAndAdd(this, -1);
  }

  /** The messages that were requested since the last time: for whom another call is to be asked. */
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

  /** The status of a call whose deadline has passed. */
  final Status exceeded() {
    return Deadlines.exceeded(deadline, options, startedNs, connection.session().describe());
  }

  private boolean isLate() {
    return deadline != null && deadline.isExpired();
  }

  /**
   * What a status of this side counts as: once the deadline has passed, a cancel comes too late.
   */
  final Status orExceeded(Status status) {
    return isLate() && status.getCode() == Status.Code.CANCELLED ? exceeded() : status;
  }

  /** The status of a call whose session has ended. */
  final Status sessionEnded() {
    return isLate()
        ? exceeded()
        : Status.UNAVAILABLE.withDescription(
            "ring session ended: " + connection.session().endReason());
  }

  /**
   * True when the server's end of the call has noticed first that its deadline has passed.
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

  /** Tells the listener the end, which is the last that it is told. */
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
  final Poller poller() {
    return connection == null ? null : connection.session().poller();
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
