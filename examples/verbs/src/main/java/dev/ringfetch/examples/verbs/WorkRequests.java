package dev.ringfetch.examples.verbs;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.rdma.verbs.WorkRequestCounts;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Work requests that one side posted to send queues, by kind.
 *
 * @param writes for calls.
 * @param reads for calls.
 * @param sends for calls.
 * @param control of any kind, which the transport posts by itself: credits, rings, heartbeats.
 * @param signaled those of all of them, READs and heartbeats apart, that asked for a completion.
 */
public record WorkRequests(long writes, long reads, long sends, long control, long signaled) {
  /** None. */
  public static final WorkRequests NONE = new WorkRequests(0, 0, 0, 0, 0);

  /** Work requests that the rings of this process's channels have posted so far. */
  public static WorkRequests ofClients() {
    return of(WorkRequestCounts.ofClients());
  }

  /** Work requests that the rings of this process's servers have posted so far. */
  public static WorkRequests ofServers() {
    return of(WorkRequestCounts.ofServers());
  }

  private static WorkRequests of(WorkRequestCounts counts) {
    final long lines = total(Counter.SESSION_LINES_SENT);
    return new WorkRequests(
        counts.writes() - lines,
        counts.reads(),
        counts.datagrams(),
        lines + counts.sends() + counts.credits() + counts.probes(),
        // Each fetch has one READ that asks, and each probe asks.
        counts.signaled() - total(Counter.SESSION_FETCHES) - counts.probes());
  }

  /** Makes calls over this process's channels; adds their work requests to the answer. */
  public static Answer with(Supplier<Answer> calls) {
    final WorkRequests before = ofClients();
    final long torn = total(Counter.SESSION_FRAMES_TORN);
    final Answer answer = calls.get();
    return ofClients()
        .since(before)
        .addTo(answer)
        .with("torn", total(Counter.SESSION_FRAMES_TORN) - torn);
  }

  /** The counts of all rings of this process, over any fabric. */
  public static long total(Counter counter) {
    return Counters.ofThisProcess().stream().mapToLong(counters -> counters.total(counter)).sum();
  }

  /** The difference to an earlier count. */
  public WorkRequests since(WorkRequests earlier) {
    return new WorkRequests(
        writes - earlier.writes,
        reads - earlier.reads,
        sends - earlier.sends,
        control - earlier.control,
        signaled - earlier.signaled);
  }

  /** Both together. */
  public WorkRequests plus(WorkRequests other) {
    return new WorkRequests(
        writes + other.writes,
        reads + other.reads,
        sends + other.sends,
        control + other.control,
        signaled + other.signaled);
  }

  /** As a child process says it. */
  public Answer addTo(Answer answer) {
    return answer
        .with("writes", writes)
        .with("reads", reads)
        .with("sends", sends)
        .with("control", control)
        .with("signaled", signaled);
  }

  /** Reads what {@link #addTo} made. */
  public static WorkRequests parse(Answer answer) {
    return new WorkRequests(
        answer.count("writes"),
        answer.count("reads"),
        answer.count("sends"),
        answer.count("control"),
        answer.count("signaled"));
  }

  /** For tables: WRITEs, READs and SENDs of one of some calls, control, and completions. */
  public String perCall(long calls) {
    return String.format(
        Locale.ROOT,
        "%s/%s/%s +%s !%s",
        number(writes, calls),
        number(reads, calls),
        number(sends, calls),
        number(control, calls),
        number(signaled, calls));
  }

  /** For scripts: fields of one of some calls, named after a side. */
  public String fields(String side, long calls) {
    return String.format(
        Locale.ROOT,
        "%1$s_writes=%2$s %1$s_reads=%3$s %1$s_sends=%4$s %1$s_control=%5$s %1$s_signaled=%6$s",
        side,
        number(writes, calls),
        number(reads, calls),
        number(sends, calls),
        number(control, calls),
        number(signaled, calls));
  }

  /** Without a fraction where there is none. */
  private static String number(long requests, long calls) {
    if (calls == 0) {
      return "-";
    }
    return requests % calls == 0
        ? Long.toString(requests / calls)
        : String.format(Locale.ROOT, "%.4f", (double) requests / calls);
  }
}
