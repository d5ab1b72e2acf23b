package dev.ringfetch.index.partition;

import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.outcome.OutcomeTable;
import java.util.function.IntFunction;
import org.agrona.ErrorHandler;

/**
 * The common context of the owners of all partitions of a server.
 *
 * @param errors receives exceptions of stores, logs and listeners, on any thread.
 * @param handover bounds the work of a thread for others.
 * @param time has the clocks, by which entries expire.
 * @param outcomes gives each partition its outcomes of writes with numbers.
 */
public record OwnerContext(
    ErrorHandler errors, Handover handover, TimeSource time, IntFunction<OutcomeTable> outcomes) {
  /** Creates a context without earlier outcomes. */
  public OwnerContext(ErrorHandler errors, Handover handover, TimeSource time) {
    this(
        errors,
        handover,
        time,
        partition -> new OutcomeTable(new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT)));
  }

  /** The same context with the outcomes that an index had before. */
  public OwnerContext with(IntFunction<OutcomeTable> recovered) {
    return new OwnerContext(errors, handover, time, recovered);
  }
}
