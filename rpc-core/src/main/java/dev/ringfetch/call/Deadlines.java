package dev.ringfetch.call;

import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Helper for the deadlines of a client's calls, and for their statuses in gRPC's wording. */
public final class Deadlines {
  private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

  private Deadlines() {}

  /** The earlier of the deadlines of options and context, or null. */
  public static Deadline effective(CallOptions options, Context context) {
    final Deadline ofCall = options.getDeadline();
    final Deadline ofContext = context.getDeadline();
    if (ofCall == null || ofContext == null) {
      return ofCall == null ? ofContext : ofCall;
    }
    return ofCall.minimum(ofContext);
  }

  /** The source of the deadline, as gRPC names it. */
  private static String source(Deadline deadline, CallOptions options) {
    return deadline.equals(options.getDeadline()) ? "CallOptions" : "Context";
  }

  /** Status of a call that was started too late. */
  public static Status startedLate(Deadline deadline, CallOptions options) {
    return Status.DEADLINE_EXCEEDED.withDescription(
        String.format(
            Locale.US,
            "ClientCall started after %s deadline was exceeded %.9f seconds ago",
            source(deadline, options),
            -deadline.timeRemaining(TimeUnit.NANOSECONDS) / NANOS_PER_SECOND));
  }

  /** Status of a call that took too long. */
  static Status exceeded(Deadline deadline, CallOptions options, long startedNs, String peer) {
    return exceeded(source(deadline, options), System.nanoTime() - startedNs, peer);
  }

  /** Same, with the name of the deadline's source given by the caller. */
  static Status exceeded(String source, long afterNs, String peer) {
    return Status.DEADLINE_EXCEEDED.withDescription(
        String.format(
            Locale.US,
            "%s deadline exceeded after %.9fs. [remote=%s]",
            source,
            afterNs / NANOS_PER_SECOND,
            peer));
  }
}
