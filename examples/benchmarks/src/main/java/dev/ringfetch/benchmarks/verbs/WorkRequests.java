package dev.ringfetch.benchmarks.verbs;

import dev.ringfetch.examples.process.Answer;
import java.util.Locale;

/**
 * Work requests that one side posted to send queues, by kind.
 *
 * @param writes for calls.
 * @param reads for calls.
 * @param sends for calls.
 * @param control of any kind, which the transport posts by itself: credits, heartbeats.
 */
public record WorkRequests(long writes, long reads, long sends, long control) {
  /** None. */
  public static final WorkRequests NONE = new WorkRequests(0, 0, 0, 0);

  /** What came after an earlier count. */
  public WorkRequests since(WorkRequests earlier) {
    return new WorkRequests(
        writes - earlier.writes,
        reads - earlier.reads,
        sends - earlier.sends,
        control - earlier.control);
  }

  /** Both together. */
  public WorkRequests plus(WorkRequests other) {
    return new WorkRequests(
        writes + other.writes, reads + other.reads, sends + other.sends, control + other.control);
  }

  /** As a child process says it. */
  public Answer addTo(Answer answer) {
    return answer
        .with("writes", writes)
        .with("reads", reads)
        .with("sends", sends)
        .with("control", control);
  }

  /** Reads what {@link #addTo} made. */
  public static WorkRequests parse(Answer answer) {
    return new WorkRequests(
        answer.count("writes"),
        answer.count("reads"),
        answer.count("sends"),
        answer.count("control"));
  }

  /** For tables: WRITEs, READs and SENDs of one of some calls, and control. */
  public String perCall(long calls) {
    return String.format(
        Locale.ROOT,
        "%s/%s/%s +%s",
        number(writes, calls),
        number(reads, calls),
        number(sends, calls),
        number(control, calls));
  }

  /** For scripts: fields of one of some calls, named after a side. */
  public String fields(String side, long calls) {
    return String.format(
        Locale.ROOT,
        "%1$s_writes=%2$s %1$s_reads=%3$s %1$s_sends=%4$s %1$s_control=%5$s",
        side,
        number(writes, calls),
        number(reads, calls),
        number(sends, calls),
        number(control, calls));
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
