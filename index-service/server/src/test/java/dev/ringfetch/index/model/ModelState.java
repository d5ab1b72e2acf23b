package dev.ringfetch.index.model;

/**
 * The state of the model of replication, and the questions about it that all steps ask.
 *
 * <p>A log is a number with two bits for each LSN, the write's number. A store is the length of
 * what is applied, as only committed records are applied (checked), and those never change
 * (checked).
 */
abstract class ModelState extends PackedState {
  static final int WON = 1;
  static final int MOVED = 2;
  static final int SCANNED = 3;
  static final int ESTABLISHED = 4;
  static final int SERVING = 5;
  static final int OVER = 6;

  /** A record that was never received, in scopes of two writes. */
  static final int NOTHING = 3;

  static final int KEPT = 1;
  static final int EMPTY = 2;

  final Scope scope;
  final Rule broken;
  final int epochs;

  // The coordinator's state: the newest epoch, the newest established one; of each epoch leader,
  // members, and the established epoch that it continues.
  final int newest;
  final int established;
  final int[] leader;
  final int[] members;
  final int[] base;
  final int[] marked;

  // The leader's state of each epoch: phase, length of the log that the epoch began with, members
  // of which the leader knows that they have it, LSN that it knows each member to have, commit LSN.
  final int[] phase;
  final int[] end;
  final int[] ready;
  final int[] seen;
  final int[] commit;

  // Processes: log of each epoch (0: what a restarted one found on its disk), epochs that it was
  // told of, gate, whether the gate is closed all the same, serving word, applied and durable LSN.
  final int[] log;
  final int[] told;
  final int alive;
  final int gate;
  final int closed;
  final int serving;
  final int applied;
  final int durable;
  final int restart;
  final int restartEpoch;
  final int oldGate;
  final int compared;
  final int kills;
  final int restarts;

  // Writes: number of those begun, epoch of each, write that is committed at each LSN; reads: map
  // (0 none), gates seen, LSN loaded + 1, what was known at the begin, done, serving word missing.
  final int begun;
  final int[] writeEpoch;
  final int[] committed;
  final int known;
  final int[] readMap;
  final int[] readGates;
  final int[] readValue;
  final int[] readKnown;
  final int[] readDone;
  final int[] readBlind;

  ModelState(Scope scope, Rule broken) {
    super(scope.processes());
    this.scope = scope;
    this.broken = broken;
    epochs = scope.epochs();
    newest = layout.number(2);
    established = layout.number(2);
    leader = new int[epochs + 1];
    members = new int[epochs + 1];
    base = new int[epochs + 1];
    marked = new int[epochs + 1];
    phase = new int[epochs + 1];
    end = new int[epochs + 1];
    ready = new int[epochs + 1];
    seen = new int[epochs + 1];
    commit = new int[epochs + 1];
    told = new int[epochs + 1];
    log = new int[epochs + 1];
    final boolean mayRestart = scope.restarts() > 0;
    for (int epoch = 1; epoch <= epochs; epoch++) {
      leader[epoch] = layout.process();
      members[epoch] = layout.set();
      base[epoch] = layout.number(2);
      phase[epoch] = layout.number(3);
      end[epoch] = layout.number(2);
      ready[epoch] = layout.set();
      seen[epoch] = layout.each(2);
      commit[epoch] = layout.number(2);
      told[epoch] = layout.set();
      log[epoch] = layout.each(2 * scope.writes());
      if (broken == Rule.COMPLETE_ONLY_BY_AN_EPOCH) {
        marked[epoch] = layout.set();
      }
    }
    log[0] = layout.each(mayRestart ? 2 * scope.writes() : 0);
    alive = layout.set();
    gate = layout.each(2);
    closed = layout.each(mayRestart ? 1 : 0);
    serving = layout.each(2);
    applied = layout.each(2);
    durable = layout.each(scope.level() == Scope.MEMORY ? 0 : 2);
    restart = layout.each(mayRestart ? 2 : 0);
    restartEpoch = layout.each(mayRestart ? 2 : 0);
    oldGate = layout.each(broken == Rule.GATE_PAGE_STAYS ? 2 : 0);
    compared = layout.each(broken == Rule.COMPARE_UNDER_TOKEN ? 2 : 0);
    kills = layout.number(2);
    restarts = layout.number(2);
    begun = layout.number(2);
    writeEpoch = new int[scope.writes() + 1];
    committed = new int[scope.writes() + 1];
    for (int write = 1; write <= scope.writes(); write++) {
      writeEpoch[write] = layout.number(2);
      committed[write] = layout.number(2);
    }
    known = layout.number(2);
    final int reads = scope.reads();
    readMap = new int[reads];
    readGates = new int[reads];
    readValue = new int[reads];
    readKnown = new int[reads];
    readDone = new int[reads];
    readBlind = new int[reads];
    for (int read = 0; read < reads; read++) {
      readMap[read] = layout.number(2);
      readGates[read] = layout.set();
      readValue[read] = layout.number(3);
      readKnown[read] = layout.number(2);
      readDone[read] = layout.number(1);
      readBlind[read] = layout.number(1);
    }
  }

  boolean restartedSince(int process, int epoch) {
    return get(restart + process) != 0 && epoch <= get(restartEpoch + process);
  }

  /**
   * Returns the last epoch, before another one, whose log a process has; 0 for that of its disk.
   */
  int latest(int process, int before) {
    int epoch = before - 1;
    while (epoch > 0 && !has(told[epoch], process)) {
      epoch--;
    }
    return epoch;
  }

  boolean needsDisk(int epoch, int process) {
    return scope.level() == Scope.ALL_DISKS
        || (scope.level() == Scope.LEADER_DISK && get(leader[epoch]) == process);
  }

  /** Whether a process that has restarted is as complete in an epoch as it was, by its disk. */
  boolean isCompleteByDisk(int process, int epoch) {
    return get(restart + process) == KEPT
        && (scope.level() == Scope.ALL_DISKS
            || (scope.level() == Scope.LEADER_DISK
                && (process == get(leader[epoch]) || broken == Rule.COLD_START_BY_THE_LEADER)));
  }

  boolean isOpen(int process, int epoch, boolean orLater) {
    if (broken == Rule.GATE_PAGE_STAYS && restartedSince(process, epoch)) {
      return get(oldGate + process) == epoch;
    }
    final int value = get(closed + process) != 0 ? 0 : get(gate + process);
    return value == epoch
        || (orLater && value > epoch)
        || (broken == Rule.ZERO_IS_CLOSED && value == 0);
  }

  void commit(int lsn, int write) {
    if (get(committed[lsn]) != 0 && get(committed[lsn]) != write) {
      violation = "an LSN has two committed records";
    }
    set(committed[lsn], write);
  }

  /** Moves a gate, and opens it. */
  void open(int process, int epoch) {
    set(gate + process, epoch);
    set(closed + process, 0);
  }

  /** Gives a process the log that it begins an epoch with. */
  void take(int epoch, int process, int value) {
    set(log[epoch] + process, value);
    set(told[epoch], get(told[epoch]) | 1 << process);
    set(durable + process, Math.min(get(durable + process), length(value)));
  }

  static int length(int log) {
    return (33 - Integer.numberOfLeadingZeros(log)) / 2;
  }

  static int at(int log, int lsn) {
    return log >>> (2 * (lsn - 1)) & 3;
  }

  static int prefix(int log, int length) {
    return log & (1 << (2 * length)) - 1;
  }
}
