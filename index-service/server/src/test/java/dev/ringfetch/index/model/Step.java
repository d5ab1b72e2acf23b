package dev.ringfetch.index.model;

/** A kind of step of the model, with the text that a trace has for it. */
enum Step {
  WIN("P%2$d wins epoch %1$d, members %3$s"),
  MOVE_GATE("P%2$d moves its gate to %1$d"),
  SCAN("P%2$d takes its log as that of epoch %1$d, length %3$s"),
  TELL("P%2$d obeys epoch %1$d with its log of length %3$s"),
  TELL_CUT("P%2$d obeys epoch %1$d, cuts its log to length %3$s"),
  JOIN("P%2$d begins to join in epoch %1$d, its log has length %3$s"),
  SNAPSHOT("P%2$d begins to join in epoch %1$d with a snapshot up to LSN %3$s"),
  ESTABLISH("P%2$d establishes epoch %1$d, log length %3$s"),
  SERVE("P%2$d serves epoch %1$d"),
  APPEND("P%2$d appends write %3$s in epoch %1$d"),
  PLACE("a record of epoch %1$d reaches P%2$d, LSN %3$s"),
  PIECE("a piece of the log of epoch %1$d reaches P%2$d, LSN %3$s"),
  LATE("a late record of epoch %1$d reaches P%2$d, LSN %3$s"),
  COMPARE("P%2$d compares its gate with a message of epoch %1$d"),
  SEE("the leader of epoch %1$d learns that P%2$d has LSN %3$s"),
  COMMIT("P%2$d commits LSN %3$s in epoch %1$d and acknowledges"),
  APPLY("P%2$d applies up to LSN %3$s in epoch %1$d"),
  JOURNAL("P%2$d makes its log durable up to LSN %3$s"),
  MARK("P%2$d is marked complete in epoch %1$d"),
  KILL("P%2$d is killed, its memory stays readable"),
  RESTART("P%2$d restarts with its disk, log length %3$s"),
  RESTART_EMPTY("P%2$d restarts empty"),
  END("P%2$d ends in order"),
  MAP("read %3$s: the serving word of epoch %1$d is seen"),
  LOOK("read %3$s: the gate of P%2$d is seen open for epoch %1$d"),
  LOAD("read: P%2$d's store shows LSN %3$s, map of epoch %1$d"),
  READ("a read with the map of epoch %1$d ends with LSN %3$s, last at P%2$d");

  private final String form;

  Step(String form) {
    this.form = form;
  }

  /** Returns the epochs in which an unbroken model of three epochs makes such steps; 0 for none. */
  int[] epochs() {
    return switch (this) {
      case MARK, COMPARE, END -> new int[] {};
      case JOURNAL, KILL, RESTART, RESTART_EMPTY -> new int[] {0};
      case WIN, MOVE_GATE, SCAN, TELL, TELL_CUT, ESTABLISH, SERVE, PIECE -> new int[] {2, 3};
      case LATE, JOIN, SNAPSHOT -> new int[] {1, 2};
      default -> new int[] {1, 2, 3};
    };
  }

  /** Returns the text of a step. */
  String text(int epoch, int one, int other) {
    return String.format(
        form, epoch, one, this == WIN ? "0b" + Integer.toBinaryString(other) : other);
  }
}
