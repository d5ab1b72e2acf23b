package dev.ringfetch.index.outcome;

/** Receives kept outcomes. */
@FunctionalInterface
public interface OutcomeSink {
  /**
   * Takes an outcome.
   *
   * @param number of the client's write
   * @param isPositive whether a put created its entry
   * @param lsn of the record that has the outcome
   * @param detail as the kind says
   */
  void onOutcome(
      NumberedClient client,
      long number,
      OutcomeKind kind,
      boolean isPositive,
      long lsn,
      long detail);
}
