package dev.ringfetch.session;

import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.poller.Dated;
import dev.ringfetch.session.unit.UnitAssembler;
import dev.ringfetch.session.unit.UnitBuffer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One call as a session sees it: an id, the unit that goes out and the unit that comes in. Streams
 * are reused, so that a call allocates neither them nor their buffers.
 *
 * <p>Two parties use a stream: the call above it (buffers, as described at each) and the owner of
 * the session (everything package-private but {@link #operations}, which is how the call asks the
 * owner for something).
 */
public abstract class Stream extends Dated {
  private static final VarHandle OPERATIONS;

  static {
    try {
      OPERATIONS = MethodHandles.lookup().findVarHandle(Stream.class, "operations", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Low bits of a stream id: index in the table. The rest is the generation of the index. */
  static final int INDEX_BITS = 16;

  static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

  /** The call of a flow asks: there are units to be sent. */
  static final int WRITE = 16;

  /** The call of a flow says: it has consumed messages. */
  static final int CONSUMED = 32;

  private UnitBuffer outbound = new UnitBuffer();

  /** The unit that comes in. */
  final UnitAssembler incoming = new UnitAssembler();

  /** What there is of units beyond the first; null while there is one each way. */
  Flow flow;

  int id;

  // What the call asks for, a bit each; the stream is in the queue while any is set.
  @SuppressWarnings("unused") // through OPERATIONS
  private volatile int operations;

  Stream nextOperation;

  // The unit that goes out.
  int outboundFlags;
  int outboundCode;
  int outboundSent;
  boolean outboundQueued;
  int queuedLength; // what it counts for in the line
  boolean outboundBegun;
  boolean headerOnly;
  boolean unsolicited;
  Stream previousInLine;
  Stream nextInLine;

  // The chain of streams whose calls have something to be told.
  Stream nextReady;

  Stream() {}

  /** Bytes that go out: the call's until it hands them over, the session's afterwards. */
  public final UnitBuffer outbound() {
    return outbound;
  }

  /** Bytes that came in: the session's until it hands them over, the call's afterwards. */
  public final UnitBuffer inbound() {
    return incoming.bytes();
  }

  /** The unit that goes out next is in this buffer. */
  final void outbound(UnitBuffer bytes) {
    outbound = bytes;
  }

  /** Flags of the unit that came in. */
  public final int inboundFlags() {
    return incoming.flags();
  }

  /** Method id of the unit that came in, or status and {@link ProcessTime}. */
  public final int inboundCode() {
    return incoming.code();
  }

  /** Length that the unit that came in was announced with; longer than what is kept if too long. */
  public final int inboundTotal() {
    return incoming.total();
  }

  /** True when the unit that came in was too long to be kept. */
  public final boolean inboundDiscarded() {
    return incoming.isDiscarded();
  }

  /** Index in the table. */
  final int index() {
    return id & INDEX_MASK;
  }

  /** Adds what the call asks for. True when the caller must put the stream into the queue. */
  final boolean request(int operation) {
    return (int) OPERATIONS.getAndBitwiseOr(this, operation) == 0;
  }

  /** Takes what the call asks for. */
  final int takeOperations() {
    return (int) OPERATIONS.getAndSet(this, 0);
  }

  /** Forgets the call. Buffers are empty afterwards. */
  void reset() {
    outbound.clear();
    incoming.reset();
    outboundFlags = 0;
    outboundCode = 0;
    outboundSent = 0;
    outboundQueued = false;
    outboundBegun = false;
    headerOnly = false;
    nextReady = null;
    deadlineNs = NO_DEADLINE;
  }
}
