package dev.ringfetch.index.model;

/** The steps of epochs and processes: a change of the configuration, a kill, a restart. */
abstract class EpochSteps extends LogSteps {
  EpochSteps(Scope scope, Rule broken) {
    super(scope, broken);
  }

  /** A complete member of the established configuration proposes the next one. */
  void win() {
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
            || size < scope.least()
            || (scope.strict() != 0 && (set & ~get(told[get(established)])) != 0)) {
          continue;
        }
        begin();
        set(newest, epoch);
        set(leader[epoch], process);
        set(members[epoch], set);
        set(base[epoch], get(established));
        set(phase[epoch], WON);
        stop(process, epoch, false);
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
    return isCompleteByDisk(process, last)
        || (get(restart + process) == EMPTY && broken == Rule.DIRECTORY_HAS_AN_ID);
  }

  /** Ends epochs before another one that a process leads; those that it serves only if asked. */
  private void stop(int process, int before, boolean serving) {
    for (int epoch = 1; epoch < before; epoch++) {
      if (get(leader[epoch]) == process && (serving || get(phase[epoch]) != SERVING)) {
        set(phase[epoch], OVER);
        set(ready[epoch], 0);
        for (int member = 0; member < processes; member++) {
          set(seen[epoch] + member, 0);
        }
      }
    }
  }

  /** What a leader does from its election until it serves. */
  void lead(int epoch) {
    final int process = get(leader[epoch]);
    final int now = get(phase[epoch]);
    final boolean early = broken == Rule.GATE_BEFORE_SCAN;
    final boolean obeys = get(gate + process) == epoch;
    if (now == (early ? MOVED : WON) && get(gate + process) < epoch) {
      begin();
      stop(process, epoch, true);
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
      reply(process);
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
    if ((now == ESTABLISHED && obeys)
        || (now == SCANNED && all && broken == Rule.SERVE_IF_ESTABLISHED)
        || (now == WON && broken == Rule.SERVING_WORD_LAST)) {
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

  private boolean oneLog(int process) {
    return (scope.rpc() >> process & 1) != 0 || get(restart + process) == KEPT;
  }

  /** A process is killed, or starts again. */
  void crash(int process) {
    if (has(alive, process)) {
      if (get(kills) < scope.kills()) {
        begin();
        set(kills, get(kills) + 1);
        set(alive, get(alive) & ~(1 << process));
        stop(process, get(newest) + 1, true);
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
}
