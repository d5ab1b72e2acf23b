package dev.ringfetch.index.model;

import java.util.Arrays;

/**
 * The model of level INTERVAL in a cluster: no commit waits for a disk, each disk gets the log at
 * any later time, and a directory leads alone where no process of the last configuration is left.
 *
 * <p>A message that {@link ReplicationModel} has under way is one step here, with its answer.
 */
final class IntervalModel extends IntervalState implements Model {
  /** Creates the model, as {@link IntervalState} says. */
  IntervalModel(int processes, int writes, int ends, IntervalRule broken) {
    super(processes, writes, ends, broken);
  }

  @Override
  public long[] initial() {
    enter(new long[layout.words()], (of, step, each, one, other, violated) -> {});
    for (final int field : new int[] {established, newest, serving}) {
      set(field, 1);
    }
    for (final int field : new int[] {members, living, wonMembers, wonLiving, alive}) {
      set(field, (1 << processes) - 1);
    }
    for (int process = 0; process < processes; process++) {
      set(epoch + process, 1);
      set(diskEpoch + process, 1);
    }
    return after();
  }

  @Override
  public void canonical(long[] of) {
    final long[] now = of.clone();
    final long[] swapped = new long[of.length];
    for (int swap = 0; swap < (processes == 3 ? 5 : 1); swap++) { // all orders
      layout.swap(now, swap & 1, (swap & 1) + 1, swapped);
      System.arraycopy(swapped, 0, now, 0, now.length);
      if (Arrays.compare(now, of) < 0) {
        System.arraycopy(now, 0, of, 0, now.length);
      }
    }
  }

  @Override
  public void successors(long[] from, Sink to) {
    enter(from, to);
    lead();
    serve();
    write();
    for (int process = 0; process < processes; process++) {
      if (has(alive, process)) {
        follow(process);
        win(process);
        end(process);
      } else {
        restart(process);
      }
    }
  }

  /** A leader writes and commits. */
  private void write() {
    final int process = get(leader);
    final int own = get(log + process);
    if (get(serving) == 0) {
      return;
    }
    if (get(begun) < writes) {
      begin();
      set(begun, get(begun) + 1);
      set(log + process, append(own, get(begun) + 1));
      emit(Step.APPEND, get(established), process, get(begun) + 1);
    }
    int all = length(own);
    for (int member = 0; member < processes; member++) {
      if (has(members, member) && broken != IntervalRule.ALL_MEMBERS_HAVE_IT) {
        final boolean has = has(living, member) && obeys(member, get(established));
        all = Math.min(all, has ? length(get(log + member)) : 0);
      }
    }
    final boolean hasGap = gaps(get(disk + process)) == gaps(own);
    if (all > get(commit) && (hasGap || broken == IntervalRule.GAP_IS_DURABLE)) {
      begin();
      commit(prefix(own, all));
      set(commit, all);
      set(applied + process, all);
      emit(Step.COMMIT, get(established), process, all);
    }
  }

  /** A process gets and applies records, its disk gets the log, and it joins. */
  private void follow(int process) {
    final int obeyed = get(epoch + process);
    final boolean ofWon = obeyed == get(newest);
    final int from = get(ofWon ? winner : leader);
    final int own = get(log + process);
    if (from != process
        && (ofWon || obeyed == get(established))
        && obeys(process, obeyed)
        && obeys(from, obeyed)) {
      final int theirs = get(log + from);
      if (length(own) < length(theirs)) {
        begin();
        set(log + process, prefix(theirs, length(own) + 1));
        violation = prefix(theirs, length(own)) == own ? null : "two logs of an epoch differ";
        emit(Step.PLACE, obeyed, process, length(own) + 1);
      }
      final int whole = Math.min(get(commit), length(own));
      if (obeyed == get(established) && whole > get(applied + process)) {
        begin();
        set(applied + process, whole);
        emit(Step.APPLY, obeyed, process, whole);
      }
    }
    final boolean isSynced =
        get(disk + process) == own
            && get(diskEpoch + process) == obeyed
            && get(diskApplied + process) == get(applied + process);
    if (!isSynced) {
      begin();
      sync(process);
      emit(Step.JOURNAL, 0, process, length(own));
    }
    if (get(serving) != 0 && !has(living, process) && !obeys(process, get(established))) {
      join(process);
    }
  }

  private void join(int process) {
    final int now = get(established);
    final int shared = shared(process, now);
    begin();
    if (has(restarted, process)
        && get(epoch + process) < now
        && (get(applied + process) <= shared || broken == IntervalRule.APPLIED_IS_NOT_CUT)) {
      obey(process, now, shared);
      emit(Step.JOIN, now, process, shared);
    } else {
      set(log + process, prefix(get(log + get(leader)), get(commit)));
      set(applied + process, get(commit));
      set(epoch + process, now);
      remove(restarted, process);
      remove(lacking, process);
      emit(Step.SNAPSHOT, now, process, get(commit));
    }
  }

  private void obey(int process, int now, int shared) {
    if (get(applied + process) > shared) {
      violation = "an applied record is cut";
    }
    set(log + process, prefix(get(log + process), shared));
    set(applied + process, Math.min(get(applied + process), shared));
    set(epoch + process, now);
    remove(restarted, process);
  }

  /** A complete process proposes the next epoch. */
  private void win(int process) {
    final boolean lives = has(living, process);
    final boolean isOfLeader =
        process == get(leader) || broken == IntervalRule.COLD_START_BY_THE_LEADER;
    final boolean isAlone =
        get(living) == 0 || broken == IntervalRule.DIRECTORY_WAITS_FOR_PROCESSES;
    final boolean mayStart =
        has(restarted, process) && has(members, process) && isOfLeader && isAlone;
    if (get(newest) == EPOCHS || !(lives || mayStart)) {
      return;
    }
    for (int set = 1; set < 1 << processes; set++) {
      boolean fits = (set >> process & 1) != 0 && !(get(serving) != 0 && set == get(members));
      for (int member = 0; member < processes; member++) {
        final boolean mayBe =
            member == process
                || (lives && has(living, member))
                || (lives && process == get(leader) && obeys(member, get(established)));
        fits &= mayBe || (set >> member & 1) == 0;
      }
      if (fits) {
        begin();
        set(newest, get(newest) + 1);
        set(winner, process);
        set(wonMembers, set);
        set(wonLiving, set);
        set(cold, get(living) == 0 ? 1 : 0);
        emit(Step.WIN, get(newest) + 1, process, set);
      }
    }
  }

  /** A winner moves its gate, tells the members, and establishes its epoch. */
  private void lead() {
    final int now = get(newest);
    final int process = get(winner);
    if (now == get(established) || !has(wonLiving, process)) {
      return;
    }
    if (get(epoch + process) < now) {
      begin();
      if (broken == IntervalRule.LEADER_ADOPTS_ITS_LOG) {
        set(log + process, prefix(get(log + process), get(applied + process)));
      }
      set(wonBegin, length(after(log + process)));
      obey(process, now, length(after(log + process)));
      set(serving, process == get(leader) ? 0 : get(serving));
      emit(Step.MOVE_GATE, now, process, 0);
      return;
    }
    final int begin = get(wonBegin);
    boolean ready =
        broken == IntervalRule.ESTABLISH_WHEN_DURABLE
            || (get(diskEpoch + process) == now && length(get(disk + process)) >= begin);
    for (int member = 0; member < processes; member++) {
      if (has(wonLiving, member) && get(epoch + member) < now) {
        begin();
        final int shared = shared(member, now);
        obey(member, now, shared);
        set(serving, member == get(leader) ? 0 : get(serving));
        emit(Step.TELL, now, member, shared);
      }
      ready &=
          !has(wonMembers, member)
              || (has(wonLiving, member)
                  && get(epoch + member) == now
                  && length(get(log + member)) >= begin);
    }
    if (ready) {
      begin();
      lose(get(committed) & ~writesOf(prefix(get(log + process), begin)));
      commit(prefix(get(log + process), begin));
      set(established, now);
      set(begins[now], begin + 1);
      set(leader, process);
      set(members, get(wonMembers));
      set(living, get(wonLiving));
      set(serving, 0);
      set(commit, begin);
      emit(Step.ESTABLISH, now, process, begin);
    }
  }

  private void serve() {
    final int process = get(leader);
    if (get(serving) == 0 && obeys(process, get(established)) && has(living, process)) {
      begin();
      set(serving, 1);
      if (has(lacking, process) && broken != IntervalRule.VERSIONS_BEHIND_A_GAP) {
        set(log + process, append(get(log + process), GAP));
      }
      remove(lacking, process);
      emit(Step.SERVE, get(established), process, 0);
    }
  }

  /** A process is killed; the only member may end in order. */
  private void end(int process) {
    if (get(ended) == ends) {
      return;
    }
    begin();
    leave(process);
    emit(Step.KILL, 0, process, 0);
    if (get(serving) != 0 && process == get(leader) && get(members) == 1 << process) {
      begin();
      if (broken != IntervalRule.ORDERLY_END_SYNCS) {
        sync(process);
      }
      set(synced, get(committed)); // as it promises
      leave(process);
      emit(Step.END, 0, process, 0);
    }
  }

  private void restart(int process) {
    begin();
    set(log + process, get(disk + process));
    set(epoch + process, get(diskEpoch + process));
    set(applied + process, get(diskApplied + process));
    for (final int field : new int[] {alive, restarted, lacking}) {
      set(field, get(field) | 1 << process);
    }
    emit(Step.RESTART, 0, process, length(get(disk + process)));
  }
}
