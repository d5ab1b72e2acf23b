package dev.ringfetch.index.partition;

import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.outcome.OutcomeTable;
import java.util.function.IntFunction;
import org.agrona.ErrorHandler;

/**
 * What the owners of all partitions of a server share.
 *
 * @param errors is told what a store, a log or a listener throws, by any thread.
 * @param handover bounds what a thread does for others.
 * @param time tells when entries end.
 * @param outcomes gives each partition its outcomes of writes with numbers.
 */
public record OwnerContext(
    ErrorHandler errors, Handover handover, TimeSource time, IntFunction<OutcomeTable> outcomes) {
  /** Without outcomes that were kept before. */
  public OwnerContext(ErrorHandler errors, Handover handover, TimeSource time) {
    this(
        errors,
        handover,
        time,
        partition -> new OutcomeTable(new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT)));
  }

  /** The same with the outcomes that an index had before. */
  public OwnerContext with(IntFunction<OutcomeTable> recovered) {
    return new OwnerContext(errors, handover, time, recovered);
  }
}
