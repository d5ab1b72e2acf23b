package dev.ringfetch.counters;

import java.util.EnumMap;
import java.util.Map;

/**
 * Everything that is counted. docs/metrics.md says what each means, and a test holds it to this
 * list. The order within a kind is part of the file's layout: a change of it is another {@link
 * CounterFileDescriptor#VERSION}.
 */
public enum Counter {
  /** Calls that were put on a ring. */
  CHANNEL_CALLS_RING(Kind.CHANNEL, "calls.ring", "calls", Type.TOTAL),
  /** Calls that were handed to gRPC, for whatever reason. */
  CHANNEL_CALLS_GRPC(Kind.CHANNEL, "calls.grpc", "calls", Type.TOTAL),
  /** Calls handed to gRPC although a ring could carry their like. */
  CHANNEL_CALLS_FALLBACK(Kind.CHANNEL, "calls.fallback", "calls", Type.TOTAL),
  /** Calls kept on gRPC because the service config has it retry or hedge their method. */
  CHANNEL_CALLS_KEPT_RETRY(Kind.CHANNEL, "calls.kept.retry", "calls", Type.TOTAL),
  /** Calls kept on gRPC because of the channel's load-balancing policy or service config. */
  CHANNEL_CALLS_KEPT_CONFIG(Kind.CHANNEL, "calls.kept.config", "calls", Type.TOTAL),
  /** Calls kept on gRPC because the ring's server has not named their method. */
  CHANNEL_CALLS_KEPT_METHOD(Kind.CHANNEL, "calls.kept.method", "calls", Type.TOTAL),
  /** Calls kept on gRPC because they have an authority of their own on an encrypted connection. */
  CHANNEL_CALLS_KEPT_AUTHORITY(Kind.CHANNEL, "calls.kept.authority", "calls", Type.TOTAL),
  /** Calls that had begun on a ring that was lost, and began again on gRPC or on the next. */
  CHANNEL_CALLS_REPEATED(Kind.CHANNEL, "calls.repeated", "calls", Type.TOTAL),
  /** Sessions that were opened. */
  CHANNEL_SESSIONS_OPENED(Kind.CHANNEL, "sessions.opened", "sessions", Type.TOTAL),
  /** Attempts to open a session that failed. */
  CHANNEL_SESSIONS_REFUSED(Kind.CHANNEL, "sessions.refused", "sessions", Type.TOTAL),

  /** Calls that rings to the backend have carried. */
  BACKEND_CALLS_RING(Kind.BACKEND, "calls.ring", "calls", Type.TOTAL),
  /** Calls, or attempts where it retries, that gRPC has carried to the backend. */
  BACKEND_CALLS_GRPC(Kind.BACKEND, "calls.grpc", "calls", Type.TOTAL),

  /** Calls that came over rings. */
  SERVER_CALLS_RING(Kind.SERVER, "calls.ring", "calls", Type.TOTAL),
  /** Calls that came over gRPC to a method that is there. */
  SERVER_CALLS_GRPC(Kind.SERVER, "calls.grpc", "calls", Type.TOTAL),
  /** Sessions that are open. */
  SERVER_SESSIONS_OPEN(Kind.SERVER, "sessions.open", "sessions", Type.LEVEL),
  /** Sessions that were opened. */
  SERVER_SESSIONS_OPENED(Kind.SERVER, "sessions.opened", "sessions", Type.TOTAL),
  /** Clients that were told that there is no room for a session. */
  SERVER_SESSIONS_REFUSED(Kind.SERVER, "sessions.refused", "sessions", Type.TOTAL),

  /** Calls that this side has begun to send, or to take in. */
  SESSION_CALLS(Kind.SESSION, "calls", "calls", Type.TOTAL),
  /** Frames written into the ring. */
  SESSION_FRAMES_SENT(Kind.SESSION, "frames.sent", "frames", Type.TOTAL),
  /** Frames taken out of the ring. */
  SESSION_FRAMES_RECEIVED(Kind.SESSION, "frames.received", "frames", Type.TOTAL),
  /** Bytes of the ring that were written, headers and padding included. */
  SESSION_BYTES_SENT(Kind.SESSION, "bytes.sent", "bytes", Type.TOTAL),
  /** Bytes of the ring that were taken out, headers and padding included. */
  SESSION_BYTES_RECEIVED(Kind.SESSION, "bytes.received", "bytes", Type.TOTAL),
  /** Bytes of long messages that frames have named. */
  SESSION_BULK_SENT(Kind.SESSION, "bulk.sent", "bytes", Type.TOTAL),
  /** Bytes of long messages that were read out of the peer's memory. */
  SESSION_BULK_RECEIVED(Kind.SESSION, "bulk.received", "bytes", Type.TOTAL),
  /** Bytes of registered memory, out of which the peer reads long messages. */
  SESSION_BULK_REGISTERED(Kind.SESSION, "bulk.registered", "bytes", Type.LEVEL),
  /** Times that no memory was registered: the budget was used up, or the system refused it. */
  SESSION_BULK_REFUSED(Kind.SESSION, "bulk.refused", "times", Type.TOTAL),
  /** Registered buffers that the application has not closed. */
  SESSION_BUFFERS_LENT(Kind.SESSION, "buffers.lent", "buffers", Type.LEVEL),
  /** Registered buffers that the application has dropped without closing them. */
  SESSION_BUFFERS_LEAKED(Kind.SESSION, "buffers.leaked", "buffers", Type.TOTAL),
  /** Times that a frame found the ring full. */
  SESSION_CREDIT_EXHAUSTED(Kind.SESSION, "credit.exhausted", "times", Type.TOTAL),
  /** Times that the peer was woken: a system call each. */
  SESSION_WAKEUPS_SENT(Kind.SESSION, "wakeups.sent", "times", Type.TOTAL),
  /** Times that the peer's doorbell was heard. */
  SESSION_WAKEUPS_RECEIVED(Kind.SESSION, "wakeups.received", "times", Type.TOTAL),
  /** Bytes that calls have handed over and that have no room in the ring, or in their window. */
  SESSION_BYTES_QUEUED(Kind.SESSION, "bytes.queued", "bytes", Type.LEVEL),
  /** Bytes that a server holds of requests. */
  SESSION_BYTES_HELD(Kind.SESSION, "bytes.held", "bytes", Type.LEVEL),
  /** 1 when the session ended by what no peer may do. */
  SESSION_FAULTS_PEER(Kind.SESSION, "faults.peer", "sessions", Type.TOTAL),
  /** Reads of the peer's ring. */
  SESSION_FETCHES(Kind.SESSION, "fetches", "reads", Type.TOTAL),
  /** Those among them that brought no frame. */
  SESSION_FETCH_MISSES(Kind.SESSION, "fetch.misses", "reads", Type.TOTAL),
  /** Times that a client turned from fetching to being pushed to, or back. */
  SESSION_REPLY_TURNS(Kind.SESSION, "reply.turns", "times", Type.TOTAL),
  /** Times that a frame was found with a wrong checksum, because it was not complete yet. */
  SESSION_FRAMES_TORN(Kind.SESSION, "frames.torn", "times", Type.TOTAL),
  /** Times that the control line was written into the peer's memory. */
  SESSION_LINES_SENT(Kind.SESSION, "lines.sent", "writes", Type.TOTAL),
  /** Datagrams that a server has sent of frames which the client fetches. */
  SESSION_HINTS_SENT(Kind.SESSION, "hints.sent", "datagrams", Type.TOTAL),
  /** Datagrams that were not sent for want of room in the send queue. */
  SESSION_HINTS_UNSENT(Kind.SESSION, "hints.unsent", "datagrams", Type.TOTAL),
  /** Datagrams that brought a client what it waited for. */
  SESSION_HINTS_TAKEN(Kind.SESSION, "hints.taken", "datagrams", Type.TOTAL),
  /** Datagrams that a client dropped: late, early, damaged, or not of this session. */
  SESSION_HINTS_DROPPED(Kind.SESSION, "hints.dropped", "datagrams", Type.TOTAL),
  /** Times that a server has told a client when it should send. */
  SESSION_TURNS_TOLD(Kind.SESSION, "turns.told", "writes", Type.TOTAL),
  /** Time that a client's output has waited for a turn. */
  SESSION_TURNS_WAITED(Kind.SESSION, "turns.waited", "nanoseconds", Type.TOTAL),
  /** Times that a client has sent beside its turns, because a deadline was near. */
  SESSION_TURNS_SKIPPED(Kind.SESSION, "turns.skipped", "times", Type.TOTAL),
  /** Times that a message has waited at the head of the ring for the process's budget. */
  SESSION_BUDGET_WAITS(Kind.SESSION, "budget.waits", "times", Type.TOTAL),

  /** Times that the poller woke from a sleep. */
  POLLER_WAKEUPS(Kind.POLLER, "wakeups", "times", Type.TOTAL),
  /** Rings, arrivals and ends that its doorbell has told. */
  POLLER_EVENTS(Kind.POLLER, "events", "events", Type.TOTAL),
  /** Tasks that it has run: callbacks, timeouts. */
  POLLER_TASKS(Kind.POLLER, "tasks", "tasks", Type.TOTAL),
  /** Sessions that it serves. */
  POLLER_SESSIONS(Kind.POLLER, "sessions", "sessions", Type.LEVEL),
  /** Sessions among them that it polls. */
  POLLER_SESSIONS_POLLED(Kind.POLLER, "sessions.polled", "sessions", Type.LEVEL),
  /** Times that it found the heap used up, or sessions left in the midst of something. */
  POLLER_ALARMS(Kind.POLLER, "alarms", "times", Type.TOTAL),
  /** Tasks of calls, with short handlers or callbacks, that it has run itself. */
  POLLER_CALLS_INLINE(Kind.POLLER, "calls.inline", "calls", Type.TOTAL),
  /** Those that it was to run, and that went to the executor because one before them took long. */
  POLLER_CALLS_MOVED(Kind.POLLER, "calls.moved", "calls", Type.TOTAL),
  /** Times that a thread that stood by has become the poller, because a task took long. */
  POLLER_TAKEOVERS(Kind.POLLER, "takeovers", "times", Type.TOTAL);

  /** How a counter moves. */
  public enum Type {
    /** It only grows; what has ended stays in the process's total. */
    TOTAL,
    /** It is what it is now. */
    LEVEL;

    /** As in the documentation. */
    public String label() {
      return this == TOTAL ? "total" : "level";
    }
  }

  private static final String PREFIX = "ringfetch.";

  private final Kind kind;
  private final String label;
  private final String unit;
  private final Type type;
  private final int index;

  Counter(Kind kind, String label, String unit, Type type) {
    this.kind = kind;
    this.label = label;
    this.unit = unit;
    this.type = type;
    this.index = Indexes.next(kind);
  }

  /** Of what it is a counter. */
  public Kind kind() {
    return kind;
  }

  /** Its name, without the kind. */
  public String label() {
    return label;
  }

  /** What it counts. */
  public String unit() {
    return unit;
  }

  /** How it moves. */
  public Type type() {
    return type;
  }

  /** Name of the meter of one subject. */
  public String meter() {
    return PREFIX + kind.label() + "." + label;
  }

  /** Name of the meter of the whole process. */
  public String processMeter() {
    return PREFIX + kind.plural() + "." + label;
  }

  /** Its place among the counters of its kind. */
  public int index() {
    return index;
  }

  /** Counts the constants of each kind while they are made. */
  private static final class Indexes {
    private static final Map<Kind, Integer> COUNTS = new EnumMap<>(Kind.class);

    static int next(Kind kind) {
      return COUNTS.merge(kind, 1, Integer::sum) - 1;
    }
  }
}
