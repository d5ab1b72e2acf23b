package dev.ringfetch.index.model;

/** A rule of {@link IntervalModel}, which a mutant breaks. */
enum IntervalRule {
  NONE,
  /** All members have a record before it is committed. */
  ALL_MEMBERS_HAVE_IT,
  /** A new leader goes on with its whole log, committed or not. */
  LEADER_ADOPTS_ITS_LOG,
  /** An epoch is established when the new leader's disk has the epoch and its log. */
  ESTABLISH_WHEN_DURABLE,
  /** A directory does not lead while a process of the configuration lives. */
  DIRECTORY_WAITS_FOR_PROCESSES,
  /** Of the directories that of the established leader alone may lead. */
  COLD_START_BY_THE_LEADER,
  /** A leader that has its log from its disk goes on behind a gap. */
  VERSIONS_BEHIND_A_GAP,
  /** Such a leader commits nothing before its disk has the gap. */
  GAP_IS_DURABLE,
  /** A log is cut where the next epoch began. */
  CUT_AT_BEGIN_OF_EPOCH,
  /** A log of which more is applied is replaced by a snapshot. */
  APPLIED_IS_NOT_CUT,
  /** An orderly end syncs the whole log. */
  ORDERLY_END_SYNCS,
  /** No rule: finds the loss that the level allows. */
  NOTHING_IS_LOST
}
