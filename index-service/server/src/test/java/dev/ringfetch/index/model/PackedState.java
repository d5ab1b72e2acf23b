package dev.ringfetch.index.model;

/**
 * The state of a model, packed in an array of longs. {@link #get} reads the state that is left,
 * {@link #set} and {@link #after} the one that a step makes of it, from {@link #begin} to {@link
 * #emit}.
 */
abstract class PackedState {
  final int processes;
  final Layout layout;
  private long[] state = {};
  private long[] next = {};
  private Model.Sink sink = (of, step, epoch, one, other, violated) -> {};
  String violation;

  PackedState(int processes) {
    this.processes = processes;
    layout = new Layout(processes);
  }

  /** Enters a state, of which {@code to} takes the successors. */
  void enter(long[] of, Model.Sink to) {
    state = of.clone();
    next = of.clone();
    sink = to;
  }

  boolean has(int field, int process) {
    return (get(field) >> process & 1) != 0;
  }

  int get(int field) {
    return layout.get(state, field);
  }

  void set(int field, int value) {
    layout.set(next, field, value);
  }

  /** Returns the value of a field in the next state. */
  int after(int field) {
    return layout.get(next, field);
  }

  /** Returns a copy of the next state. */
  long[] after() {
    return next.clone();
  }

  void begin() {
    System.arraycopy(state, 0, next, 0, next.length);
  }

  void emit(Step step, int epoch, int one, int other) {
    sink.next(next, step, epoch, one, other, violation);
    violation = null;
  }
}
