package dev.ringfetch.index.model;

/**
 * The steps of logs: what a leader sends, what members keep of it, how a record is committed and
 * applied, how a process joins.
 */
abstract class LogSteps extends ModelState {
  LogSteps(Scope scope, Rule broken) {
    super(scope, broken);
  }

  /** What reaches other processes from an epoch's leader, also long after it was sent. */
  void send(int epoch) {
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
            (gateNow < epoch && last < epoch) || broken == Rule.GATE_MOVES_FORWARD;
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
            join(epoch, process);
            obey(Step.JOIN, epoch, process);
          }
          final boolean complete = has(members[epoch], process) && isCompleteByDisk(process, epoch);
          if ((scope.joins() & 2) != 0 && (!complete || broken == Rule.COMPLETE_KEEPS_ITS_LOG)) {
            begin();
            join(epoch, process);
            snapshot(epoch, process);
          }
        }
      }
    }
  }

  /** A process that joins obeys the epoch at once, if the scope says so. */
  private void join(int epoch, int process) {
    if ((scope.joins() & 4) != 0) {
      open(process, epoch);
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
        value |= NOTHING << (2 * (lsn - 1));
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
          || (wrote < epoch && lsn > get(end[first]) && broken != Rule.CUT_AT_BEGIN_OF_EPOCH)) {
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
            || (broken == Rule.COMPARE_UNDER_TOKEN && get(compared + process) == epoch);
    if (lsn <= length(from) && accepted) {
      begin();
      final int record = at(from, lsn) << (2 * (lsn - 1));
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
        final int mask = 3 << (2 * (late - 1));
        if (late <= length(now) + 1
            && (now & mask) != (from & mask)
            && get(writeEpoch[at(from, late)]) == epoch) {
          begin();
          set(log[current] + process, (now & ~mask) | (from & mask));
          emit(Step.LATE, epoch, process, late);
        }
      }
    }
  }

  /** Notes, in the next state, that a member has the log that the epoch began with, if so. */
  void prepare(int epoch, int process) {
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

  /** What a leader does with writes. */
  void write(int epoch) {
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
      set(log[epoch] + process, own | write << (2 * (lsn - 1)));
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
  void reply(int process) {
    final int epoch = latest(process, epochs + 1);
    if (epoch > 0 && get(phase[epoch]) == SERVING && has(members[epoch], process)) {
      set(
          seen[epoch] + process,
          Math.max(get(seen[epoch] + process), acknowledged(epoch, process, true)));
    }
  }

  /** What a process does with the log that it has. */
  void follow(int process) {
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
}
