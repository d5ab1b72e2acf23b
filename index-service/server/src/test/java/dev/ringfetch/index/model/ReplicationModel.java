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
 */
final class ReplicationModel extends EpochSteps implements Model {
  private final long[] swapped = new long[layout.words()];

  ReplicationModel(Scope scope, Rule broken) {
    super(scope, broken);
  }

  @Override
  public long[] initial() {
    enter(new long[layout.words()], (of, step, epoch, one, other, violated) -> {});
    begin();
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
    return after();
  }

  /** Chooses the smaller of a state and its mirror image: two processes with equal beginnings. */
  @Override
  public void canonical(long[] of) {
    final int one = scope.size() == 2 ? 2 : 1;
    if (scope.size() > 3
        || processes < one + 2
        || (scope.rpc() >> one & 1) != (scope.rpc() >> (one + 1) & 1)) {
      return;
    }
    layout.swap(of, one, one + 1, swapped);
    if (Arrays.compare(swapped, of) < 0) {
      System.arraycopy(swapped, 0, of, 0, of.length);
    }
  }

  @Override
  public void successors(long[] of, Sink to) {
    enter(of, to);
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

  private void read(int read) {
    if (get(readDone[read]) != 0) {
      return;
    }
    final int map = get(readMap[read]);
    if (map != 0) {
      observe(read, map);
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
                  || (broken == Rule.CONFIRM_IF_ESTABLISHED
                      && now == SCANNED
                      && get(leader[get(base[epoch])]) == process)
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
  private void observe(int read, int map) {
    final int process = get(leader[map]);
    final int need = broken == Rule.READER_SEES_ALL_GATES ? 1 << process : get(members[map]);
    final boolean first = get(readGates[read]) == 0 && get(readValue[read]) == 0;
    for (int member = 0; member < processes; member++) {
      if ((need >> member & 1) != 0
          && !has(readGates[read], member)
          && isOpen(member, map, broken == Rule.READER_SEES_GATE_EQUAL)) {
        begin();
        set(readGates[read], get(readGates[read]) | 1 << member);
        end(read, map, need, first, Step.LOOK, member, read);
      }
    }
    final boolean present =
        scope.remote() != 0
            ? get(phase[map]) == SERVING
                || (broken == Rule.CONFIRM_IF_ESTABLISHED && get(phase[map]) == SCANNED)
            : !restartedSince(process, map) || broken == Rule.RESTART_INTO_NEW_MEMORY;
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
}
