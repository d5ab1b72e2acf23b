package dev.ringfetch.index.outcome;

/**
 * An outcome out of a table, on its way to a snapshot.
 *
 * @param client whose write it was
 * @param number of the client's write
 * @param kind of the outcome
 * @param isPositive whether a put created its entry
 * @param lsn of the record that has the outcome
 * @param detail as the kind says
 */
public record KeptOutcome(
    NumberedClient client,
    long number,
    OutcomeKind kind,
    boolean isPositive,
    long lsn,
    long detail) {}
