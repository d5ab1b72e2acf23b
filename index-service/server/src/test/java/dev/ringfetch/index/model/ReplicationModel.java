package dev.ringfetch.index.model;

import java.util.Arrays;

/**
 * The model of replication: one partition, a coordinator, processes with gates, logs and stores,
 * writes and direct or remote reads, each step as small as the protocol lets it be.
 *
 * <p>What is delayed, lost or under way needs no state: a step may happen at any time after the one
 * that caused it, or never. A record that a leader has appended may reach a process's log memory of
 * that epoch at any later time, after the leader's end included (one-sided); or as long as the
 * process still obeys the epoch (RPC). A killed process's memory stays readable and writable.
 *
 * <p>A log is a number with two bits for each LSN, the write's number; a store is the length of
 * what is applied, since what is applied is committed (checked), and what is committed never
 * changes (checked). {@code known} writes and reads are what clients know: later reads see no less.
 */
final class ReplicationModel implements Model {
  private static final int WON = 1;
  private static final int MOVED = 2;
  private static final int SCANNED = 3;
  private static final int ESTABLISHED = 4;
  private static final int SERVING = 5;
  private static final int OVER = 6;

  /** A record that was never received, in scopes of two writes. */
  private static final int NOTHING = 3;

  private static final int KEPT = 1;
  private static final int EMPTY = 2;

  private final Scope scope;
  private final Rule broken;
  private final int processes;
  private final int epochs;
  private final Layout layout;

  // The coordinator's state: the newest epoch, the newest established one; of each epoch leader,
  // members, and the established epoch that it continues.
  private final int newest;
  private final int established;
  private final int[] leader;
  private final int[] members;
  private final int[] base;
  private final int[] marked;

  // The leader's state of each epoch: phase, length of the log that the epoch began with, members
  // of which the leader knows that they have it, LSN that it knows each member to have, commit LSN.
  private final int[] phase;
  private final int[] end;
  private final int[] ready;
  private final int[] seen;
  private final int[] commit;

  // Processes: log of each epoch (0: what a restarted one found on its disk), epochs that it was
  // told of, gate, whether the gate is closed all the same, serving word, applied and durable LSN.
  private final int[] log;
  private final int[] told;
  private final int alive;
  private final int gate;
  private final int closed;
  private final int serving;
  private final int applied;
  private final int durable;
  private final int restart;
  private final int restartEpoch;
  private final int oldGate;
  private final int compared;
  private final int kills;
  private final int restarts;

  // Writes: number of those begun, epoch of each, write that is committed at each LSN; reads: map
  // (0 none), gates seen, LSN loaded + 1, what was known at the begin, done, serving word missing.
  private final int begun;
  private final int[] writeEpoch;
  private final int[] committed;
  private final int known;
  private final int[] readMap;
  private final int[] readGates;
  private final int[] readValue;
  private final int[] readKnown;
  private final int[] readDone;
  private final int[] readBlind;

  private final long[] state;
  private final long[] next;
  private final long[] swapped;
  private Sink sink = (state, step, epoch, one, other, violation) -> {};
  private String violation;

  ReplicationModel(Scope scope, Rule broken) {
    this.scope = scope;
    this.broken = broken;
    processes = scope.processes();
    epochs = scope.epochs();
    layout = new Layout(processes);
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
    state = new long[layout.words()];
    next = new long[layout.words()];
    swapped = new long[layout.words()];
  }

  @Override
  public long[] initial() {
    Arrays.fill(next, 0);
    final int first = (1 << scope.size()) - 1;
    set(newest, 1);
    set(established, 1);
    set(members[1], first);
    set(ready[1], first);
    set(told[1], first);
    set(phase[1], SERVING);
    set(serving, 1);
    set(alive, (1 << processes) - 1);
    for (int process = 0; process < scope.size(); process++) {
      set(gate + process, 1);
    }
    return next.clone();
  }

  /** Chooses the smaller of a state and its mirror image: two processes with equal beginnings. */
  @Override
  public void canonical(long[] of) {
    final int one = scope.size() == 2 ? 2 : 1;
    if (scope.size() > 3
        || processes < one + 2
        || (scope.rpc() >> one & 1) != (scope.rpc() >> one + 1 & 1)) {
      return;
    }
    layout.swap(of, one, one + 1, swapped);
    if (Arrays.compare(swapped, of) < 0) {
      System.arraycopy(swapped, 0, of, 0, of.length);
    }
  }

  @Override
  public void successors(long[] of, Sink to) {
    System.arraycopy(of, 0, state, 0, state.length);
    sink = to;
    win();
    for (int epoch = 1; epoch <= get(newest); epoch++) {
      lead(epoch);
      send(epoch);
      write(epoch);
    }
    for (int process = 0; process < processes; process++) {
      follow(process);
      crash(process);
    }
    for (int read = 0; read < scope.reads(); read++) {
      read(read);
    }
  }

  // The coordinator

  /** A complete member of the established configuration proposes the next one. */
  private void win() {
    final int epoch = get(newest) + 1;
    for (int process = 0; epoch <= epochs && process < processes; process++) {
      if (!has(alive, process) || !mayWin(process)) {
        continue;
      }
      for (int set = 1; set < 1 << processes; set++) {
        final int size = Integer.bitCount(set);
        if ((set >> process & 1) == 0
            || (set & ~get(alive)) != 0
            || size > scope.size()
            || size < scope.least()) {
          continue;
        }
        begin();
        set(newest, epoch);
        set(leader[epoch], process);
        set(members[epoch], set);
        set(base[epoch], get(established));
        set(phase[epoch], WON);
        for (int old = 1; old < epoch; old++) {
          if (get(leader[old]) == process) {
            stop(old);
          }
        }
        emit(Step.WIN, epoch, process, set);
      }
    }
  }

  private boolean mayWin(int process) {
    final int last = get(established);
    if (broken == Rule.LEADER_WAS_MEMBER) {
      return true;
    }
    if (broken == Rule.ABANDONED_COUNTS_FOR_NOTHING && has(members[get(newest)], process)) {
      return true;
    }
    if (broken == Rule.COMPLETE_ONLY_BY_AN_EPOCH && has(marked[last], process)) {
      return true;
    }
    if (!has(members[last], process)) {
      return false;
    }
    if (!restartedSince(process, last) || broken == Rule.RESTARTED_IS_INCOMPLETE) {
      return true;
    }
    if (get(restart + process) == EMPTY) {
      return broken == Rule.DIRECTORY_HAS_AN_ID;
    }
    return scope.level() == Scope.ALL_DISKS
        || scope.level() == Scope.LEADER_DISK
            && (process == get(leader[last]) || broken == Rule.COLD_START_BY_THE_LEADER);
  }

  private void stop(int epoch) {
    set(phase[epoch], OVER);
    set(ready[epoch], 0);
    for (int process = 0; process < processes; process++) {
      set(seen[epoch] + process, 0);
    }
  }

  private boolean restartedSince(int process, int epoch) {
    return get(restart + process) != 0 && epoch <= get(restartEpoch + process);
  }

  // The leader of an epoch, until it serves

  private void lead(int epoch) {
    final int process = get(leader[epoch]);
    final int now = get(phase[epoch]);
    final boolean early = broken == Rule.GATE_BEFORE_SCAN;
    final boolean obeys = get(gate + process) == epoch;
    if (now == (early ? MOVED : WON) && get(gate + process) < epoch) {
      begin();
      if (broken != Rule.LEADER_MOVES_ITS_GATE) {
        open(process, epoch);
      }
      set(phase[epoch], early ? SCANNED : MOVED);
      emit(Step.MOVE_GATE, epoch, process, 0);
    }
    if (now == (early ? WON : MOVED) && (obeys || early || broken == Rule.LEADER_MOVES_ITS_GATE)) {
      begin();
      final int own = oneLog(process) ? latest(process, epoch) : get(base[epoch]);
      final int value = get(log[own] + process);
      take(epoch, process, value);
      set(end[epoch], length(value));
      set(phase[epoch], SCANNED);
      prepare(epoch, process);
      set(phase[epoch], early ? MOVED : SCANNED);
      emit(Step.SCAN, epoch, process, length(value));
    }
    final boolean all = (get(members[epoch]) & ~get(ready[epoch])) == 0;
    if (now == SCANNED
        && all
        && (get(newest) == epoch || broken == Rule.ESTABLISH_IF_NEWEST)
        && epoch > get(established)) {
      begin();
      set(established, epoch);
      set(phase[epoch], ESTABLISHED);
      final int value = get(log[epoch] + process);
      for (int lsn = 1; lsn <= scope.writes(); lsn++) {
        if (lsn <= get(end[epoch])) {
          commit(lsn, at(value, lsn));
        } else if (get(committed[lsn]) != 0) {
          violation = "a committed record is lost";
        }
      }
      emit(Step.ESTABLISH, epoch, process, get(end[epoch]));
    }
    if (now == ESTABLISHED && obeys
        || now == SCANNED && all && broken == Rule.SERVE_IF_ESTABLISHED
        || now == WON && broken == Rule.SERVING_WORD_LAST) {
      begin();
      set(serving + process, epoch);
      if (now != WON) {
        set(phase[epoch], SERVING);
        set(applied + process, Math.max(get(applied + process), get(end[epoch])));
        set(commit[epoch], get(end[epoch]));
        for (int member = 0; member < processes; member++) {
          set(seen[epoch] + member, has(members[epoch], member) ? get(end[epoch]) : 0);
        }
      }
      if (now != WON || get(serving + process) != epoch) {
        emit(Step.SERVE, epoch, process, 0);
      }
    }
  }

  /** Moves a gate, and opens it. */
  private void open(int process, int epoch) {
    set(gate + process, epoch);
    set(closed + process, 0);
  }

  /** Gives a process the log that it begins an epoch with. */
  private void take(int epoch, int process, int value) {
    set(log[epoch] + process, value);
    set(told[epoch], get(told[epoch]) | 1 << process);
    set(durable + process, Math.min(get(durable + process), length(value)));
  }

  /** Notes, in the next state, that a member has the log that the epoch began with, if so. */
  private void prepare(int epoch, int process) {
    final int length = after(end[epoch]);
    if (after(phase[epoch]) == SCANNED
        && has(members[epoch], process)
        && (after(told[epoch]) >> process & 1) != 0
        && (length(after(log[epoch] + process)) >= length
            || broken == Rule.COMPLETE_BEFORE_ESTABLISHED)
        && (!needsDisk(epoch, process)
            || after(durable + process) >= length
            || broken == Rule.ESTABLISH_WHEN_DURABLE)) {
      set(ready[epoch], after(ready[epoch]) | 1 << process);
    }
  }

  private boolean needsDisk(int epoch, int process) {
    return scope.level() == Scope.ALL_DISKS
        || scope.level() == Scope.LEADER_DISK && get(leader[epoch]) == process;
  }

  private boolean oneLog(int process) {
    return (scope.rpc() >> process & 1) != 0 || get(restart + process) == KEPT;
  }

  /**
   * Returns the last epoch, before another one, whose log a process has; 0 for that of its disk.
   */
  private int latest(int process, int before) {
    int epoch = before - 1;
    while (epoch > 0 && !has(told[epoch], process)) {
      epoch--;
    }
    return epoch;
  }

  // From the leader to the others

  private void send(int epoch) {
    final int from = get(leader[epoch]);
    if (!has(told[epoch], from)) {
      return;
    }
    final boolean moved = get(phase[epoch]) != MOVED;
    for (int process = 0; process < processes; process++) {
      if (process == from) {
        continue;
      }
      if (has(told[epoch], process)) {
        place(epoch, process);
      } else if (moved && has(alive, process)) {
        final boolean addressed =
            !restartedSince(process, epoch) || broken == Rule.ADDRESSED_TO_AN_INCARNATION;
        final int gateNow = get(gate + process);
        final int last = latest(process, epochs + 1);
        final boolean forward =
            gateNow < epoch && last < epoch || broken == Rule.GATE_MOVES_FORWARD;
        if (has(members[epoch], process) && addressed && forward) {
          begin();
          open(process, epoch);
          obey(Step.TELL, epoch, process);
        } else if (scope.joins() != 0
            && get(phase[epoch]) == SERVING
            && (!has(members[epoch], process) || restartedSince(process, epoch))
            && gateNow <= epoch
            && last < epoch) {
          if ((scope.joins() & 1) != 0) {
            begin();
            obey(Step.JOIN, epoch, process);
          }
          if ((scope.joins() & 2) != 0) {
            begin();
            snapshot(epoch, process);
          }
        }
      }
    }
  }

  /** A process keeps what it shares with the leader's log, and will get the rest in pieces. */
  private void obey(Step step, int epoch, int process) {
    reply(process);
    final int own = get(log[latest(process, epochs + 1)] + process);
    final int shared = shared(epoch, own);
    if (shared < get(applied + process)) {
      if (scope.applies() != 0) {
        violation = "an applied record is cut";
      }
      set(applied + process, shared);
    }
    take(epoch, process, prefix(own, shared));
    prepare(epoch, process);
    emit(step == Step.TELL && shared < length(own) ? Step.TELL_CUT : step, epoch, process, shared);
  }

  /** A process that joins gets what the leader has applied, in place of its own log. */
  private void snapshot(int epoch, int process) {
    reply(process);
    final int from = get(log[epoch] + get(leader[epoch]));
    final int whole = get(applied + get(leader[epoch]));
    int value = prefix(from, whole);
    if (broken == Rule.TAIL_FROM_APPLIED) {
      for (int lsn = whole + 1; lsn <= length(from); lsn++) {
        value |= NOTHING << 2 * (lsn - 1);
      }
    }
    take(epoch, process, value);
    if (broken == Rule.SNAPSHOT_INTO_NEW_MEMORY) {
      set(applied + process, 0);
    }
    emit(Step.SNAPSHOT, epoch, process, length(value));
  }

  /** Returns how many records of a log are those of the leader's log of an epoch. */
  private int shared(int epoch, int own) {
    final int whole = length(get(log[epoch] + get(leader[epoch])));
    int length = 0;
    if (broken == Rule.CUT_LONGER_LOGS) {
      return length(own);
    }
    if (broken == Rule.KEEP_UNTIL_REPLACED) {
      return 0;
    }
    while (length < Math.min(length(own), whole)) {
      final int lsn = length + 1;
      final int record = at(own, lsn);
      final int wrote =
          record == NOTHING && scope.writes() < NOTHING ? epoch : get(writeEpoch[record]);
      int first = epoch; // the first epoch on the way to this one after that of the record
      while (get(base[first]) > wrote && broken != Rule.CUT_BY_EPOCH_OF_RECORD) {
        first = get(base[first]);
      }
      if (wrote > epoch
          || wrote < epoch && lsn > get(end[first]) && broken != Rule.CUT_AT_BEGIN_OF_EPOCH) {
        break;
      }
      length++;
    }
    return length;
  }

  /** A record reaches a process that was told of the epoch. */
  private void place(int epoch, int process) {
    final int from = get(log[epoch] + get(leader[epoch]));
    final int to = get(log[epoch] + process);
    final int lsn = length(to) + 1;
    final boolean byRpc = (scope.rpc() >> process & 1) != 0;
    final int current = latest(process, epochs + 1);
    if (byRpc && !has(alive, process)) {
      return;
    }
    final boolean obeys = current == epoch && get(gate + process) <= epoch;
    if (broken == Rule.COMPARE_UNDER_TOKEN && byRpc && obeys && get(compared + process) != epoch) {
      begin();
      set(compared + process, epoch);
      emit(Step.COMPARE, epoch, process, 0);
      return;
    }
    final boolean accepted =
        !byRpc
            || obeys
            || broken == Rule.COMPARE_WITH_GATE
            || broken == Rule.COMPARE_UNDER_TOKEN && get(compared + process) == epoch;
    if (lsn <= length(from) && accepted) {
      begin();
      final int record = at(from, lsn) << 2 * (lsn - 1);
      set(log[epoch] + process, to | record);
      if (byRpc && current != epoch && length(get(log[current] + process)) == lsn - 1) {
        set(log[current] + process, get(log[current] + process) | record);
      }
      set(compared + process, 0);
      final int now = get(phase[epoch]);
      prepare(epoch, process);
      emit(
          current != epoch || now == OVER
              ? Step.LATE
              : lsn <= get(end[epoch]) || !has(members[epoch], process) ? Step.PIECE : Step.PLACE,
          epoch,
          process,
          lsn);
    }
    if (broken == Rule.LOG_MEMORY_OF_ONE_EPOCH && current != epoch) {
      for (int late = 1; late <= length(from); late++) {
        final int now = get(log[current] + process);
        final int mask = 3 << 2 * (late - 1);
        if (late <= length(now) + 1
            && (now & mask) != (from & mask)
            && get(writeEpoch[at(from, late)]) == epoch) {
          begin();
          set(log[current] + process, now & ~mask | from & mask);
          emit(Step.LATE, epoch, process, late);
        }
      }
    }
  }

  // Writes

  private void write(int epoch) {
    final int process = get(leader[epoch]);
    final int now = get(phase[epoch]);
    if (!has(alive, process)) {
      return;
    }
    final boolean goesOn =
        scope.busy() != 0
            && (now == SCANNED || now == ESTABLISHED)
            && get(leader[get(base[epoch])]) == process;
    final int own = get(log[epoch] + process);
    if ((now == SERVING || goesOn) && get(begun) < scope.writes()) {
      begin();
      final int write = get(begun) + 1;
      final int lsn = length(own) + 1;
      set(begun, write);
      set(writeEpoch[write], epoch);
      set(log[epoch] + process, own | write << 2 * (lsn - 1));
      if (broken == Rule.PUBLISH_WHEN_COMMITTED) {
        set(applied + process, lsn);
      }
      emit(Step.APPEND, epoch, process, write);
    }
    if (now != SERVING) {
      return;
    }
    int all = 3;
    boolean spared = broken != Rule.ALL_MEMBERS_HAVE_IT;
    for (int member = 0; member < processes; member++) {
      if (!has(members[epoch], member)) {
        continue;
      }
      final int value = acknowledged(epoch, member, true);
      if (value > get(seen[epoch] + member)) {
        begin();
        set(seen[epoch] + member, value);
        emit(Step.SEE, epoch, member, value);
      }
      if (member != process && !spared) {
        spared = true;
      } else if (member != process && broken == Rule.ALL_GATES_SEEN) {
        all = Math.min(all, acknowledged(epoch, member, false));
      } else {
        all = Math.min(all, get(seen[epoch] + member));
      }
    }
    if (all > get(commit[epoch])) {
      begin();
      for (int lsn = get(commit[epoch]) + 1; lsn <= all; lsn++) {
        commit(lsn, at(own, lsn));
      }
      set(commit[epoch], all);
      set(applied + process, Math.max(get(applied + process), all));
      set(known, Math.max(get(known), all));
      emit(Step.COMMIT, epoch, process, all);
    }
  }

  /** Returns the LSN that a member acknowledges now, by its gate or by an answer; 0 for none. */
  private int acknowledged(int epoch, int member, boolean withGate) {
    final boolean byRpc = (scope.rpc() >> member & 1) != 0 && member != get(leader[epoch]);
    if (withGate && !byRpc && !isOpen(member, epoch, broken == Rule.GATE_EQUALS)) {
      return 0;
    }
    int value = length(get(log[epoch] + member));
    if (withGate && !byRpc && broken == Rule.GATE_AFTER_RECORD) {
      value = length(get(log[epoch] + get(leader[epoch])));
    }
    if (needsDisk(epoch, member) && broken != Rule.COMMIT_WHEN_DURABLE) {
      value = latest(member, epochs + 1) == epoch ? Math.min(value, get(durable + member)) : 0;
    }
    return value;
  }

  /** Takes an acknowledgement under way before a process moves on: its leader may read it later. */
  private void reply(int process) {
    final int epoch = latest(process, epochs + 1);
    if (epoch > 0 && get(phase[epoch]) == SERVING && has(members[epoch], process)) {
      set(
          seen[epoch] + process,
          Math.max(get(seen[epoch] + process), acknowledged(epoch, process, true)));
    }
  }

  private void commit(int lsn, int write) {
    if (get(committed[lsn]) != 0 && get(committed[lsn]) != write) {
      violation = "an LSN has two committed records";
    }
    set(committed[lsn], write);
  }

  private boolean isOpen(int process, int epoch, boolean orLater) {
    if (broken == Rule.GATE_PAGE_STAYS && restartedSince(process, epoch)) {
      return get(oldGate + process) == epoch;
    }
    final int value = get(closed + process) != 0 ? 0 : get(gate + process);
    return value == epoch
        || orLater && value > epoch
        || broken == Rule.ZERO_IS_CLOSED && value == 0;
  }

  // Members

  private void follow(int process) {
    final int epoch = latest(process, epochs + 1);
    if (!has(alive, process) || epoch == 0) {
      return;
    }
    final int own = get(log[epoch] + process);
    final int length =
        broken == Rule.APPLY_WHEN_COMMITTED
            ? length(own)
            : Math.min(length(own), get(commit[epoch]));
    if (scope.applies() != 0 && process != get(leader[epoch]) && length > get(applied + process)) {
      begin();
      for (int lsn = get(applied + process) + 1; lsn <= length; lsn++) {
        if (get(committed[lsn]) != at(own, lsn)) {
          violation = "a record is applied that is not committed";
        }
      }
      set(applied + process, length);
      emit(Step.APPLY, epoch, process, length);
    }
    if (needsDisk(epoch, process) && get(durable + process) < length(own)) {
      begin();
      set(durable + process, length(own));
      prepare(epoch, process);
      emit(Step.JOURNAL, 0, process, length(own));
    }
    if (broken == Rule.COMPLETE_ONLY_BY_AN_EPOCH
        && !has(members[epoch], process)
        && !has(marked[epoch], process)
        && length(own) == length(get(log[epoch] + get(leader[epoch])))) {
      begin();
      set(marked[epoch], get(marked[epoch]) | 1 << process);
      emit(Step.MARK, epoch, process, 0);
    }
  }

  private void crash(int process) {
    if (has(alive, process)) {
      if (get(kills) < scope.kills()) {
        begin();
        set(kills, get(kills) + 1);
        set(alive, get(alive) & ~(1 << process));
        for (int epoch = 1; epoch <= get(newest); epoch++) {
          if (get(leader[epoch]) == process) {
            stop(epoch);
          }
        }
        emit(Step.KILL, 0, process, 0);
      }
    } else if (get(restarts) < scope.restarts() && get(restart + process) == 0) {
      restart(process, KEPT);
      restart(process, EMPTY);
    }
  }

  /** Another incarnation: with the disk, and with the page of the gate, or without both. */
  private void restart(int process, int kind) {
    begin();
    reply(process);
    final int epoch = latest(process, epochs + 1);
    final int own = get(log[epoch] + process);
    final boolean led = epoch > 0 && get(leader[epoch]) == process;
    final int kept =
        scope.level() != Scope.MEMORY
            ? get(durable + process)
            : led ? length(own) : get(applied + process);
    for (int each = 1; each <= epochs; each++) {
      set(told[each], get(told[each]) & ~(1 << process));
      set(log[each] + process, 0);
    }
    set(log[0] + process, kind == KEPT ? prefix(own, kept) : 0);
    set(durable + process, kind == KEPT ? get(durable + process) : 0);
    set(applied + process, 0);
    set(serving + process, 0);
    set(restarts, get(restarts) + 1);
    set(alive, get(alive) | 1 << process);
    set(restart + process, kind);
    set(restartEpoch + process, get(newest));
    set(oldGate + process, broken == Rule.GATE_PAGE_STAYS ? get(gate + process) : 0);
    if (kind == EMPTY || broken == Rule.REMEMBER_THE_EPOCH) {
      set(gate + process, 0);
    } else if (broken == Rule.RESTART_CLOSES_THE_GATE) {
      set(gate + process, Math.max(get(gate + process) - 1, 0));
    }
    set(closed + process, broken == Rule.RESTART_CLOSES_THE_GATE ? 0 : 1);
    emit(kind == KEPT ? Step.RESTART : Step.RESTART_EMPTY, 0, process, kind == KEPT ? kept : 0);
  }

  // Reads

  private void read(int read) {
    if (get(readDone[read]) != 0) {
      return;
    }
    final int map = get(readMap[read]);
    if (map != 0) {
      observe(read, map, 0);
      return;
    }
    if (read > 0 && get(readDone[read - 1]) == 0 && get(readMap[read - 1]) == 0) {
      return; // reads begin in the order of their numbers
    }
    for (int epoch = 1; epoch <= get(newest); epoch++) {
      final int process = get(leader[epoch]);
      final int now = get(phase[epoch]);
      final boolean found =
          scope.remote() != 0
              ? now == SERVING
                  || broken == Rule.CONFIRM_IF_ESTABLISHED
                      && now == SCANNED
                      && get(leader[get(base[epoch])]) == process
              : get(serving + process) == epoch || broken == Rule.SERVING_WORD_SEEN;
      if (found) {
        begin();
        set(readMap[read], epoch);
        if (broken == Rule.CONFIRM_AFTER_BEGIN) {
          set(readGates[read], get(members[epoch]));
          set(readKnown[read], get(known));
        }
        emit(Step.MAP, epoch, process, read);
      } else if (broken == Rule.SERVING_WORD_FIRST) {
        begin();
        set(readMap[read], epoch);
        set(readBlind[read], 1);
        set(readKnown[read], get(known));
        set(readValue[read], get(applied + process) + 1);
        emit(Step.LOAD, epoch, process, get(applied + process));
      }
    }
  }

  /** A look at a gate or the load; the first of them begins the read, the last one ends it. */
  private void observe(int read, int map, int none) {
    final int process = get(leader[map]);
    final int need = broken == Rule.READER_SEES_ALL_GATES ? 1 << process : get(members[map]);
    final boolean first = get(readGates[read]) == 0 && get(readValue[read]) == none;
    for (int member = 0; member < processes; member++) {
      if ((need >> member & 1) != 0
          && !has(readGates[read], member)
          && isOpen(member, map, broken == Rule.READER_SEES_GATE_EQUAL)) {
        begin();
        set(readGates[read], get(readGates[read]) | 1 << member);
        end(read, map, need, first, Step.LOOK, member, read);
      }
    }
    final boolean present = scope.remote() == 0 || has(alive, process) && get(phase[map]) != OVER;
    if (get(readValue[read]) == 0 && present) {
      begin();
      set(readValue[read], get(applied + process) + 1);
      end(read, map, need, first, Step.LOAD, process, get(applied + process));
    }
    if (get(readBlind[read]) != 0 && get(serving + process) == map) {
      begin();
      set(readBlind[read], 0);
      end(read, map, need, false, Step.MAP, process, read);
    }
  }

  private void end(int read, int map, int need, boolean first, Step step, int one, int other) {
    if (first) {
      set(readKnown[read], get(known));
    }
    final int value = after(readValue[read]) - 1;
    if (value < 0 || (need & ~after(readGates[read])) != 0 || after(readBlind[read]) != 0) {
      emit(step, map, one, other);
      return;
    }
    if (value < after(readKnown[read])) {
      violation = "a read is stale";
    }
    for (int lsn = 1; lsn <= value; lsn++) {
      if (get(committed[lsn]) == 0) {
        violation = "a read shows what is not committed";
      }
    }
    set(known, Math.max(get(known), value));
    set(readDone[read], 1);
    set(readMap[read], 0);
    set(readGates[read], 0);
    set(readValue[read], 0);
    set(readKnown[read], 0);
    emit(Step.READ, map, one, value);
  }

  // Logs

  private static int length(int log) {
    return (33 - Integer.numberOfLeadingZeros(log)) / 2;
  }

  private static int at(int log, int lsn) {
    return log >>> 2 * (lsn - 1) & 3;
  }

  private static int prefix(int log, int length) {
    return log & (1 << 2 * length) - 1;
  }

  // States

  private int get(int field) {
    return layout.get(state, field);
  }

  private boolean has(int field, int process) {
    return (layout.get(state, field) >> process & 1) != 0;
  }

  private void begin() {
    System.arraycopy(state, 0, next, 0, next.length);
  }

  /** Returns the value of a field in the next state. */
  private int after(int field) {
    return layout.get(next, field);
  }

  private void set(int field, int value) {
    layout.set(next, field, value);
  }

  private void emit(Step step, int epoch, int one, int other) {
    sink.next(next, step, epoch, one, other, violation);
    violation = null;
  }
}
