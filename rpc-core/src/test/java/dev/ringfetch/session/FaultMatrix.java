package dev.ringfetch.session;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** How often each fault has struck in each state of the protocol. */
final class FaultMatrix {
  private static final SimFault[] FAULTS = SimFault.values();
  private static final int STRIDE =
      97; // a prime, with no divisor in common with the number of cells

  private final Map<Cell, Long> cells = new HashMap<>();
  private final List<SimState> states;
  private long faults;

  /** Of the states that there are. */
  FaultMatrix(List<SimState> states) {
    this.states = states;
  }

  /** A fault and the state that it should strike in. */
  record Cell(SimFault fault, SimState state) {}

  void struck(SimFault fault, Set<SimState> in) {
    faults++;
    for (final SimState state : in) {
      cells.merge(new Cell(fault, state), 1L, Long::sum);
    }
  }

  long faults() {
    return faults;
  }

  void add(FaultMatrix other) {
    faults += other.faults;
    other.cells.forEach((cell, count) -> cells.merge(cell, count, Long::sum));
  }

  /** All cells, in an order in which neither the same fault nor the same state comes twice. */
  Cell cell(long number) {
    final int cells = FAULTS.length * states.size();
    final int index = (int) Math.floorMod(number * STRIDE, (long) cells);
    return new Cell(FAULTS[index / states.size()], states.get(index % states.size()));
  }

  private long count(SimFault fault, SimState state) {
    return cells.getOrDefault(new Cell(fault, state), 0L);
  }

  /** Cells that were never struck. */
  List<String> zeros() {
    return zeros(states);
  }

  /** Those of certain states. */
  List<String> zeros(Collection<SimState> of) {
    final List<String> zeros = new ArrayList<>();
    for (final SimFault fault : FAULTS) {
      for (final SimState state : of) {
        if (count(fault, state) == 0) {
          zeros.add(fault + " x " + state);
        }
      }
    }
    return zeros;
  }

  @Override
  public String toString() {
    final StringBuilder table = new StringBuilder(String.format("%-16s", "fault x state"));
    for (final SimState state : states) {
      table.append(String.format("%15s", state));
    }
    for (final SimFault fault : FAULTS) {
      table.append(String.format("%n%-16s", fault));
      for (final SimState state : states) {
        table.append(String.format("%15d", count(fault, state)));
      }
    }
    return table.toString();
  }
}
