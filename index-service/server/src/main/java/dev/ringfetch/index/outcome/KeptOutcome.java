package dev.ringfetch.index.outcome;

import com.google.protobuf.ByteString;

/**
 * A kept outcome, on its way from a table to a snapshot.
 *
 * @param client of the write
 * @param number of the client's write
 * @param kind of the outcome
 * @param isPositive whether a put created its entry
 * @param lsn of the record with the outcome
 * @param detail its meaning depends on the kind
 * @param answer what is kept of the answer; empty if nothing
 */
public record KeptOutcome(
    NumberedClient client,
    long number,
    OutcomeKind kind,
    boolean isPositive,
    long lsn,
    long detail,
    ByteString answer) {}
