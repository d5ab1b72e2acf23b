package dev.ringfetch.index.replication;

/**
 * The counts of a replica's events since the process began; {@link ReplicaStatus.Counts} says what
 * each counts.
 *
 * <p>The replica's owner only.
 */
final class ReplicaCounts {
  long wins;
  long serves;
  long cuts;
  long refused;
  long pieces;
  long joins;
  long failedJoins;

  /** The counts so far, with that of placed records. */
  ReplicaStatus.Counts taken(long damaged) {
    return new ReplicaStatus.Counts(
        wins, serves, cuts, refused, pieces, joins, failedJoins, damaged);
  }
}
