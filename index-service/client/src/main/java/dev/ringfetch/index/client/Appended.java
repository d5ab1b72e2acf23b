package dev.ringfetch.index.client;

import java.util.List;

/**
 * The records that an append has written: the first ones of its call.
 *
 * @param offsets of the records, in their order.
 * @param timesMs of the appends, by the leader's clock, in milliseconds since 1970; where there are
 *     fewer than offsets, the last one is that of the others, too.
 */
public record Appended(List<Long> offsets, List<Long> timesMs) {
  /** No record. */
  static final Appended NONE = new Appended(List.of(), List.of());

  /**
   * The time of a record, as {@link TopicRecord#timeMs} has it; 0 if it is unknown: the answer of
   * the call that wrote the record was lost.
   */
  public long timeMs(int record) {
    return timesMs.isEmpty() ? 0 : timesMs.get(Math.min(record, timesMs.size() - 1));
  }
}
