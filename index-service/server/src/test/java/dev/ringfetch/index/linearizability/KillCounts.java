package dev.ringfetch.index.linearizability;

import java.util.concurrent.atomic.AtomicLong;

/** The counts of a {@link KillRun}: what was killed, and what of it clients have noticed. */
final class KillCounts {
  /** Writes that were repeated after their connection had ended. */
  final AtomicLong repeated = new AtomicLong();

  /** Of these, by the version in the answer: those that an earlier server had carried out. */
  final AtomicLong fromOutcomes = new AtomicLong();

  /** Of these, by the version in the answer: those that the server that answered carried out. */
  final AtomicLong carriedOutLater = new AtomicLong();

  /** Repeated writes to an index in memory whose outcome had ended with the server. */
  final AtomicLong gone = new AtomicLong();

  /** Writes that were answered, by durability: MEMORY, INTERVAL, DISK. */
  final AtomicLong[] answered = {new AtomicLong(), new AtomicLong(), new AtomicLong()};

  /** Answered writes of INTERVAL whose version was not there after the kill. */
  final AtomicLong lost = new AtomicLong();

  final AtomicLong transferred = new AtomicLong();
  final AtomicLong rangesRemoved = new AtomicLong();
  final AtomicLong expired = new AtomicLong();
  final AtomicLong operations = new AtomicLong();
  final AtomicLong keysChecked = new AtomicLong();
  final AtomicLong entriesCompared = new AtomicLong();
  final AtomicLong snapshots = new AtomicLong();

  // Of the thread that kills.
  int kills;
  long counted;
  int killsInSnapshots;
  int killsInStarts;
  int startsFromSnapshots;
  int startsFromTheJournal;
  long longestStartMs;

  @Override
  public String toString() {
    return String.format(
        "kills=%d in-snapshots=%d in-starts=%d starts: from-snapshot=%d from-journal=%d"
            + " longest=%d ms%n"
            + "answered writes: memory=%d interval=%d (lost within the interval: %d) disk=%d%n"
            + "repeated=%d answered-from-outcomes=%d carried-out-by-the-repetition=%d"
            + " gone-with-memory=%d%n"
            + "snapshots=%d ranges-removed=%d entries-ended=%d increments-counted=%d transfers=%d%n"
            + "checked: operations=%d keys=%d entries-compared-after-starts=%d",
        kills,
        killsInSnapshots,
        killsInStarts,
        startsFromSnapshots,
        startsFromTheJournal,
        longestStartMs,
        answered[0].get(),
        answered[1].get(),
        lost.get(),
        answered[2].get(),
        repeated.get(),
        fromOutcomes.get(),
        carriedOutLater.get(),
        gone.get(),
        snapshots.get(),
        rangesRemoved.get(),
        expired.get(),
        counted,
        transferred.get(),
        operations.get(),
        keysChecked.get(),
        entriesCompared.get());
  }
}
