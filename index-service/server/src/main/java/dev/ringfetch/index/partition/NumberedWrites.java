package dev.ringfetch.index.partition;

import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.outcome.OutcomeWalk;

/**
 * The owner's handling of writes with numbers: finds the outcome of a write that was carried out
 * before, and keeps the outcome of each write when its record is appended (RIFL, Lee and others,
 * SOSP 2015).
 *
 * <p>Used by the owner alone.
 */
final class NumberedWrites {
  /** Returned by {@link #look}: the write has no outcome, so the owner carries it out. */
  static final int NEW = 1;

  private final OutcomeTable outcomes;

  NumberedWrites(OutcomeTable outcomes) {
    this.outcomes = outcomes;
  }

  /**
   * Searches for the outcome of a write, and copies it to the write.
   *
   * @return {@link #NEW}; {@link Write#DONE} if there is an outcome, of the record with {@link
   *     Write#version}; or the negative outcome of the write
   */
  int look(Write write) {
    final NumberedClient client = write.client();
    if (!client.keeps(write.number())) {
      return Write.OUTCOME_GONE;
    }
    final int place = outcomes.find(client, write.number());
    if (place == OutcomeTable.NONE) {
      return outcomes.reserve() ? NEW : Write.OUTCOMES_FULL;
    }
    final OutcomeKind kind = outcomes.kind(place);
    final long detail = outcomes.detail(place);
    if (write.kind().isOfRange() && kind == OutcomeKind.DELETED) {
      write.detail(detail); // the removal continues
      return NEW;
    }
    if (!fits(write, kind)) {
      return Write.NUMBER_REUSED;
    }
    write.logged(outcomes.lsn(place));
    write.kept(kind, outcomes.isPositive(place), detail, outcomes.answer(place));
    return Write.DONE;
  }

  private static boolean fits(Write write, OutcomeKind kind) {
    return switch (write.kind()) {
      case PUT -> kind == OutcomeKind.WRITTEN;
      case COMPARE_AND_SET, INCREMENT, TOUCH ->
          kind == OutcomeKind.WRITTEN || kind == OutcomeKind.UNCHANGED;
      case TRANSACTION -> kind == OutcomeKind.TRANSACTION || kind == OutcomeKind.UNCHANGED;
      case DELETE -> kind == OutcomeKind.DELETED || kind == OutcomeKind.UNCHANGED;
      case RANGE_BEGIN, RANGE_DELETE, RANGE_END -> kind == OutcomeKind.RANGE;
      case READ, TICK -> false;
    };
  }

  /** Keeps the outcome of a write whose record was appended. */
  void appended(Write write) {
    final OutcomeKind kind = write.outcomeKind();
    if (kind == OutcomeKind.DELETED) {
      write.detail(write.removed() + 1);
    }
    outcomes.keep(
        write.client(), write.number(), kind, write.isPositive(), write.version(), write.detail());
    outcomes.keepAnswer(write.client(), write.number(), write.answer());
  }

  /** Advances a walk over outcomes of appended records by one step. */
  void step(OutcomeWalk walk) {
    outcomes.step(walk);
  }

  /** Drops all outcomes. */
  void close() {
    outcomes.clear();
  }
}
