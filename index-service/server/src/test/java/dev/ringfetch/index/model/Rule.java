package dev.ringfetch.index.model;

/**
 * A rule of replication, with a scope in which the search finds a violation when the rule is
 * broken. The text says what the broken model does.
 */
enum Rule {
  /** No rule is broken. */
  NONE("", ""),

  // Who may win
  LEADER_WAS_MEMBER("any process wins", "size=2 epochs=3 writes=1"),
  ABANDONED_COUNTS_FOR_NOTHING(
      "a member of an epoch that was won, and not established, wins", "size=2 epochs=3 writes=1"),
  RESTARTED_IS_INCOMPLETE(
      "a restarted process wins as the member that it was",
      "size=2 epochs=2 writes=1 kills=1 restarts=1"),
  DIRECTORY_HAS_AN_ID(
      "a process with an empty directory wins as the one that had the disk",
      "size=2 epochs=2 writes=1 kills=1 restarts=1 level=2"),
  COMPLETE_ONLY_BY_AN_EPOCH(
      "a joiner that has the whole log is marked complete in an epoch whose writes do not wait for it",
      "size=2 epochs=2 writes=1 joins=1"),

  // Opening an epoch
  LEADER_MOVES_ITS_GATE("the new leader leaves its own gate", "size=2 epochs=2 writes=1"),
  GATE_BEFORE_SCAN(
      "the new leader takes its log before it moves its gate", "size=2 epochs=2 writes=1"),
  GATE_MOVES_FORWARD(
      "a message of an earlier epoch moves a gate back",
      "processes=3 size=2 epochs=3 writes=1 reads=1"),
  ESTABLISH_IF_NEWEST(
      "an epoch is established though a later one was won", "size=2 epochs=3 writes=1"),
  SERVE_IF_ESTABLISHED("a leader serves when its members have the log", "size=2 epochs=3 writes=1"),
  SERVING_WORD_LAST(
      "the serving word is set before the store is complete", "size=2 epochs=2 writes=1 reads=1"),
  LOG_MEMORY_OF_ONE_EPOCH(
      "log memory is used again for the next epoch", "processes=3 size=2 epochs=3 writes=2"),

  // Logs
  CUT_LONGER_LOGS(
      "a member keeps what its log has beyond the leader's",
      "processes=3 size=2 epochs=3 writes=2 applies=1"),
  CUT_AT_BEGIN_OF_EPOCH(
      "a log is cut at the leader's present end, not at the one that the epoch began with",
      "processes=3 size=2 epochs=2 writes=2 joins=1 applies=1"),
  CUT_BY_EPOCH_OF_RECORD(
      "a log is cut at the begin of the newest epoch only",
      "processes=3 size=2 epochs=3 writes=2 applies=1"),
  KEEP_UNTIL_REPLACED(
      "a member drops its log before it has the leader's", "size=2 epochs=3 writes=1 rpc=15"),
  TAIL_FROM_APPLIED(
      "a joiner gets the records behind the leader's last one, not those behind what the snapshot has",
      "size=2 epochs=2 writes=2 joins=2 applies=1"),
  SNAPSHOT_INTO_NEW_MEMORY(
      "a joiner clears the store that readers of its own epoch may still load from",
      "processes=3 size=2 epochs=3 writes=1 reads=1 joins=2"),
  COMPLETE_BEFORE_ESTABLISHED(
      "an epoch is established before all its members have the log", "size=2 epochs=3 writes=1"),

  // Commits
  ALL_MEMBERS_HAVE_IT("a record is committed without one member", "size=2 epochs=2 writes=1"),
  ALL_GATES_SEEN("the leader looks at its own gate only", "size=2 epochs=2 writes=1"),
  GATE_AFTER_RECORD(
      "the leader sees the gate before the record is there", "size=2 epochs=2 writes=1"),
  GATE_EQUALS(
      "the gate of a later epoch counts as open for the leader", "size=2 epochs=2 writes=1"),
  ZERO_IS_CLOSED(
      "a gate of zero counts as open",
      "processes=3 size=2 epochs=2 writes=1 reads=1 kills=1 restarts=1 level=2"),
  COMPARE_WITH_GATE(
      "a member appends without a look at its gate", "size=2 epochs=2 writes=1 rpc=15"),
  COMPARE_UNDER_TOKEN(
      "a member compares, and appends when its gate may have moved",
      "size=2 epochs=2 writes=1 rpc=15"),
  PUBLISH_WHEN_COMMITTED("the leader applies when it appends", "size=2 epochs=2 writes=1 reads=1"),
  APPLY_WHEN_COMMITTED("members apply what they have", "size=2 epochs=2 writes=2 applies=1"),

  // Reads
  READER_SEES_ALL_GATES(
      "a reader looks at the leader's gate only", "size=2 epochs=2 writes=1 reads=1"),
  READER_SEES_GATE_EQUAL(
      "the gate of a later epoch counts as open for readers", "size=2 epochs=2 writes=1 reads=1"),
  SERVING_WORD_SEEN(
      "a reader does not look at the serving word", "size=2 epochs=2 writes=1 reads=1"),
  SERVING_WORD_FIRST(
      "a reader loads before it sees the serving word", "size=2 epochs=2 writes=1 reads=1"),
  CONFIRM_AFTER_BEGIN(
      "a read through the leader counts a round that began before it",
      "size=2 epochs=2 writes=1 reads=1 remote=1"),
  CONFIRM_IF_ESTABLISHED(
      "a leader that goes on leading confirms reads before its epoch is established",
      "processes=3 size=2 epochs=3 writes=1 reads=1 remote=1"),

  // Restarts and disks
  ADDRESSED_TO_AN_INCARNATION(
      "a message reaches the next incarnation of its receiver",
      "processes=3 size=2 epochs=3 writes=1 kills=1 restarts=1"),
  RESTART_CLOSES_THE_GATE(
      "a restarted process opens with the gate that its disk has, which may be an older one",
      "size=2 epochs=2 writes=1 reads=1 kills=1 restarts=1"),
  GATE_PAGE_STAYS(
      "a restarted process makes another page for its gate",
      "processes=3 size=2 epochs=2 writes=1 reads=1 kills=1 restarts=1 level=2"),
  REMEMBER_THE_EPOCH(
      "a restarted process forgets the newest epoch that it obeyed",
      "processes=3 size=2 epochs=3 writes=1 kills=1 restarts=1 level=2 joins=1"),
  RESTART_INTO_NEW_MEMORY(
      "a restarted process begins with an empty store in memory that readers may still load from",
      "processes=3 size=2 epochs=2 writes=1 reads=1 kills=1 restarts=1"),
  COMMIT_WHEN_DURABLE(
      "a record is committed before it is durable",
      "size=2 epochs=2 writes=1 kills=1 restarts=1 level=2"),
  ESTABLISH_WHEN_DURABLE(
      "an epoch is established before its log is durable",
      "processes=3 size=2 epochs=3 writes=1 kills=1 restarts=1 level=2"),
  COMPLETE_KEEPS_ITS_LOG(
      "a member that its disk makes complete gives its log up for a snapshot before a configuration"
          + " without it is established",
      "processes=3 size=2 epochs=3 writes=1 kills=1 restarts=1 level=2 joins=2"),
  COLD_START_BY_THE_LEADER(
      "any member's directory leads a cold start though only the leader's disk was waited for",
      "size=2 epochs=2 writes=1 kills=1 restarts=1 level=1");

  private final String broken;
  private final String scope;

  Rule(String broken, String scope) {
    this.broken = broken;
    this.scope = scope;
  }

  /** Returns what the model does when it breaks the rule. */
  String broken() {
    return broken;
  }

  /** Returns the scope that shows that the rule is needed. */
  String scope() {
    return scope;
  }
}
