package dev.ringfetch.session;

import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.owner.SharedField;
import dev.ringfetch.session.poller.Dated;
import dev.ringfetch.session.unit.UnitAssembler;
import dev.ringfetch.session.unit.UnitBuffer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A session's state of one call: an id, the outbound unit and the inbound unit. Streams are reused,
 * so that a call allocates neither them nor their buffers.
 *
 * <p>Two parties use a stream: the call above it (buffers, as described at each) and the owner of
 * the session (everything package-private except {@link #operations}, by which the call submits
 * operations to the owner).
 */
public abstract class Stream extends Dated {
  private static final VarHandle OPERATIONS =
      SharedField.of(MethodHandles.lookup(), "operations", int.class);

  /** Low bits of a stream id: index in the table. The rest is the generation of the index. */
  static final int INDEX_BITS = 16;

  static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

  /** Operation of a flow: there are units to be sent. */
  static final int WRITE = 16;

  /** Operation of a flow: the call has consumed messages. */
  static final int CONSUMED = 32;

  private UnitBuffer outbound = new UnitBuffer();

  /** The inbound unit. */
  final UnitAssembler incoming = new UnitAssembler();

  /** The units beyond the first; null while there is one each way. */
  @Nullable Flow flow;

  int id;

  // The submitted operations, a bit each; the stream is in the queue while any is set.
  @SuppressWarnings("unused") // through OPERATIONS
  private volatile int operations;

  Stream nextOperation;

  // The outbound unit.
  int outboundFlags;
  int outboundCode;
  int outboundSent;
  boolean outboundQueued;
  int queuedLength; // bytes that it counts in the queue
  boolean outboundBegun;
  boolean headerOnly;
  boolean unsolicited;
  Stream previousInLine;
  Stream nextInLine;

  // The chain of streams with pending notifications.
  Stream nextReady;

  Stream() {}

  /** Outbound bytes: owned by the call until it hands them over, by the session afterwards. */
  public final UnitBuffer outbound() {
    return outbound;
  }

  /** Inbound bytes: owned by the session until it hands them over, by the call afterwards. */
  public final UnitBuffer inbound() {
    return incoming.bytes();
  }

  /** Sets the buffer of the next outbound unit. */
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

  /** The announced length of the inbound unit; more than the kept bytes if it is too long. */
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

  /** Adds an operation. True when the caller must put the stream into the queue. */
  final boolean request(int operation) {
    return (int) OPERATIONS.getAndBitwiseOr(this, operation) == 0;
  }

  /** Takes the submitted operations. */
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
