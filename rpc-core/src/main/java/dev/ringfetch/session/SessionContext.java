package dev.ringfetch.session;

import dev.ringfetch.counters.Counters;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.bulk.BulkContext;
import dev.ringfetch.session.bulk.MemoryQuota;
import dev.ringfetch.session.poller.PollerContext;
import dev.ringfetch.session.remote.ClientTurn;
import dev.ringfetch.session.remote.RemoteContext;
import dev.ringfetch.session.remote.ReplyChoice;
import dev.ringfetch.session.remote.ReplyPolicy;
import dev.ringfetch.session.remote.TurnSchedule;
import java.util.Objects;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.jspecify.annotations.Nullable;

/**
 * The options of sessions. Setters return this; a context is not changed once a session uses it.
 */
public final class SessionContext implements PollerContext, BulkContext, RemoteContext, Cloneable {
  /** Default of {@link #requestRingLength()}. */
  public static final int REQUEST_RING_LENGTH_DEFAULT = 256 * 1024;

  /** Largest {@link #maxStreams()}: stream ids have 16 bits for it, and 0 denotes the session. */
  public static final int MAX_STREAMS_LIMIT = Stream.INDEX_MASK;

  /**
   * Default of {@link #hintWaitNs()}: several times the latency of a datagram between two cards.
   */
  public static final long HINT_WAIT_NS_DEFAULT = 20_000;

  /** Default of {@link #turnThreshold()}: half of the connections that small cards can cache. */
  public static final int TURN_THRESHOLD_DEFAULT = 128;

  /** Default of {@link #turnGroup()}: ScaleRPC's. */
  public static final int TURN_GROUP_DEFAULT = 40;

  /** Default of {@link #turnLengthNs()}: some ten calls for each one that the turn delays. */
  public static final int TURN_LENGTH_NS_DEFAULT = 200_000;

  /** Default of {@link #inlinePerMs()}. */
  public static final int INLINE_PER_MS_DEFAULT = 8;

  /** Default limit of {@link #bulkQuota()}, in bytes. */
  public static final long BULK_QUOTA_DEFAULT = 1L << 30;

  /** Default limit of {@link #messageQuota()}, in bytes: a quarter of the heap's maximum. */
  public static final long MESSAGE_QUOTA_DEFAULT = Runtime.getRuntime().maxMemory() / 4;

  private static final long MAX_HINT_WAIT_NS = 1_000_000_000;

  private int inlinePerMs = INLINE_PER_MS_DEFAULT;
  private int bulkThreshold = 16 * 1024;
  private int bulkSegmentLength = 256 * 1024;
  private int bulkLength = 16 * 1024 * 1024;
  private MemoryQuota bulkQuota = new MemoryQuota(BULK_QUOTA_DEFAULT);
  private MemoryQuota messageQuota = new MemoryQuota(MESSAGE_QUOTA_DEFAULT);
  private int requestRingLength = REQUEST_RING_LENGTH_DEFAULT;
  private int responseRingLength = 256 * 1024;
  private int initialRingLength = 16 * 1024; // 256 slots
  private int maxFrameLength = 32 * 1024;
  private int maxStreams = 16 * 1024;
  private int maxInboundLength = 4 * 1024 * 1024;
  private int maxMetadataLength = 8 * 1024;
  private long maxHeldLength = 256L * 1024 * 1024;
  private long spinNs = // on one core, spinning would only keep the peer from running
      Runtime.getRuntime().availableProcessors() == 1 ? 0 : 50_000;
  private NanoClock clock = SystemNanoClock.INSTANCE;
  private Counters counters = new Counters();
  private ReplyPolicy replyPolicy = ReplyPolicy.ADAPTIVE;
  private int replyTrialCalls = ReplyChoice.TRIAL_CALLS;
  private long hintWaitNs = HINT_WAIT_NS_DEFAULT;
  private int turnThreshold = TURN_THRESHOLD_DEFAULT;
  private int turnGroup = TURN_GROUP_DEFAULT;
  private int turnLengthNs = TURN_LENGTH_NS_DEFAULT;
  private boolean acrossProxies;
  private @Nullable TurnSchedule turns; // null until first requested

  /**
   * Creates a separate context with the same options; its sessions share nothing with this one's.
   */
  public SessionContext copy() {
    try {
      final SessionContext copy = (SessionContext) clone();
      copy.counters = new Counters();
      copy.turns = null;
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  private static void check(String option, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(option + "=" + value);
    }
  }

  /** Whether sessions are opened although a proxy stands between client and server. */
  public boolean acrossProxies() {
    return acrossProxies;
  }

  /** Sets {@link #acrossProxies()}. */
  public SessionContext acrossProxies(boolean across) {
    this.acrossProxies = across;
    return this;
  }

  /** Length of the ring of requests in bytes, a power of two. The server has the last word. */
  public int requestRingLength() {
    return requestRingLength;
  }

  /** Sets {@link #requestRingLength()}. */
  public SessionContext requestRingLength(int bytes) {
    ArenaDescriptor.checkRingLength("requestRingLength", bytes);
    this.requestRingLength = bytes;
    return this;
  }

  /** Length of the ring of responses in bytes, a power of two. The server has the last word. */
  public int responseRingLength() {
    return responseRingLength;
  }

  /** Sets {@link #responseRingLength()}. */
  public SessionContext responseRingLength(int bytes) {
    ArenaDescriptor.checkRingLength("responseRingLength", bytes);
    this.responseRingLength = bytes;
    return this;
  }

  /**
   * Longest ring in bytes, a power of two, of a channel's first session; when its rings have been
   * full, a session with longer rings replaces it.
   */
  public int initialRingLength() {
    return initialRingLength;
  }

  /** Sets {@link #initialRingLength()}. */
  public SessionContext initialRingLength(int bytes) {
    ArenaDescriptor.checkRingLength("initialRingLength", bytes);
    this.initialRingLength = bytes;
    return this;
  }

  /**
   * Longest frame in bytes: longer units go as a chain of frames, with frames of other calls in
   * between. Never more than the ring.
   */
  public int maxFrameLength() {
    return maxFrameLength;
  }

  /** Sets {@link #maxFrameLength()}. */
  public SessionContext maxFrameLength(int bytes) {
    check("maxFrameLength", bytes, FrameDescriptor.SLOT_LENGTH, Long.MAX_VALUE);
    this.maxFrameLength = bytes;
    return this;
  }

  @Override
  public int bulkThreshold() {
    return bulkThreshold;
  }

  /** Sets {@link #bulkThreshold()}. */
  public SessionContext bulkThreshold(int bytes) {
    check("bulkThreshold", bytes, 0, Long.MAX_VALUE);
    this.bulkThreshold = bytes;
    return this;
  }

  @Override
  public int bulkSegmentLength() {
    return bulkSegmentLength;
  }

  /** Sets {@link #bulkSegmentLength()}. */
  public SessionContext bulkSegmentLength(int bytes) {
    check("bulkSegmentLength", bytes, 1, Long.MAX_VALUE);
    this.bulkSegmentLength = bytes;
    return this;
  }

  @Override
  public int bulkLength() {
    return bulkLength;
  }

  /** Sets {@link #bulkLength()}. */
  public SessionContext bulkLength(int bytes) {
    check("bulkLength", bytes, 0, Long.MAX_VALUE);
    this.bulkLength = bytes;
    return this;
  }

  @Override
  public MemoryQuota bulkQuota() {
    return bulkQuota;
  }

  /** Sets {@link #bulkQuota()}. */
  public SessionContext bulkQuota(MemoryQuota quota) {
    this.bulkQuota = quota;
    return this;
  }

  /**
   * Limit of the requests and messages of streams that all server sessions with this quota keep in
   * memory together; of this context unless set. Further ones wait in their rings.
   */
  public MemoryQuota messageQuota() {
    return messageQuota;
  }

  /** Sets {@link #messageQuota()}. */
  public SessionContext messageQuota(MemoryQuota quota) {
    this.messageQuota = quota;
    return this;
  }

  /** Calls that a server lets one client have under way at once on its ring. */
  public int maxStreams() {
    return maxStreams;
  }

  /** Sets {@link #maxStreams()}. */
  public SessionContext maxStreams(int streams) {
    check("maxStreams", streams, 1, MAX_STREAMS_LIMIT);
    this.maxStreams = streams;
    return this;
  }

  /** Longest message that this side accepts, in bytes. */
  public int maxInboundLength() {
    return maxInboundLength;
  }

  /** Sets {@link #maxInboundLength()}. */
  public SessionContext maxInboundLength(int bytes) {
    check("maxInboundLength", bytes, 0, Long.MAX_VALUE);
    this.maxInboundLength = bytes;
    return this;
  }

  /** Longest metadata that this side accepts, in bytes as gRPC counts them. */
  public int maxMetadataLength() {
    return maxMetadataLength;
  }

  /** Sets {@link #maxMetadataLength()}. */
  public SessionContext maxMetadataLength(int bytes) {
    check("maxMetadataLength", bytes, 1, Long.MAX_VALUE);
    this.maxMetadataLength = bytes;
    return this;
  }

  /**
   * Bytes that a server keeps in memory for one session at once, from their first frame on: of long
   * requests and other long units until their call has ended, of a stream's messages until its
   * handler has consumed them. A unit beyond the limit ends its call. (Short requests are bounded
   * by {@link #maxStreams}.)
   */
  public long maxHeldLength() {
    return maxHeldLength;
  }

  /** Sets {@link #maxHeldLength()}. */
  public SessionContext maxHeldLength(long bytes) {
    check("maxHeldLength", bytes, 0, Long.MAX_VALUE);
    this.maxHeldLength = bytes;
    return this;
  }

  @Override
  public long spinNs() {
    return spinNs;
  }

  /** Sets {@link #spinNs()}. */
  public SessionContext spinNs(long nanos) {
    check("spinNs", nanos, 0, Long.MAX_VALUE);
    this.spinNs = nanos;
    return this;
  }

  @Override
  public ReplyPolicy replyPolicy() {
    return replyPolicy;
  }

  /** Sets {@link #replyPolicy()}. */
  public SessionContext replyPolicy(ReplyPolicy mode) {
    this.replyPolicy = Objects.requireNonNull(mode);
    return this;
  }

  @Override
  public int replyTrialCalls() {
    return replyTrialCalls;
  }

  /** Sets {@link #replyTrialCalls()}. */
  SessionContext replyTrialCalls(int calls) {
    this.replyTrialCalls = calls;
    return this;
  }

  @Override
  public long hintWaitNs() {
    return hintWaitNs;
  }

  /** Sets {@link #hintWaitNs()}: a second at the most. */
  public SessionContext hintWaitNs(long nanos) {
    check("hintWaitNs", nanos, 0, MAX_HINT_WAIT_NS);
    this.hintWaitNs = nanos;
    return this;
  }

  @Override
  public int inlinePerMs() {
    return inlinePerMs;
  }

  /** Sets {@link #inlinePerMs()}. */
  public SessionContext inlinePerMs(int calls) {
    check("inlinePerMs", calls, 1, Long.MAX_VALUE);
    this.inlinePerMs = calls;
    return this;
  }

  @Override
  public int turnThreshold() {
    return turnThreshold;
  }

  /** Sets {@link #turnThreshold()}. */
  public SessionContext turnThreshold(int sessions) {
    check("turnThreshold", sessions, 0, Long.MAX_VALUE);
    this.turnThreshold = sessions;
    return this;
  }

  @Override
  public int turnGroup() {
    return turnGroup;
  }

  /** Sets {@link #turnGroup()}. */
  public SessionContext turnGroup(int sessions) {
    check("turnGroup", sessions, 1, Long.MAX_VALUE);
    this.turnGroup = sessions;
    return this;
  }

  @Override
  public int turnLengthNs() {
    return turnLengthNs;
  }

  /** Sets {@link #turnLengthNs()}. */
  public SessionContext turnLengthNs(int nanos) {
    check("turnLengthNs", nanos, 1, ClientTurn.MAX_PERIOD_NS / 2);
    this.turnLengthNs = nanos;
    return this;
  }

  @Override
  public synchronized TurnSchedule turns() {
    if (turns == null) {
      turns = new TurnSchedule(this);
    }
    return turns;
  }

  @Override
  public NanoClock clock() {
    return clock;
  }

  /** Sets {@link #clock()}. */
  public SessionContext clock(NanoClock clock) {
    this.clock = clock;
    return this;
  }

  @Override
  public Counters counters() {
    return counters;
  }

  /** Sets {@link #counters()}. */
  public SessionContext counters(Counters counters) {
    this.counters = counters;
    return this;
  }
}
