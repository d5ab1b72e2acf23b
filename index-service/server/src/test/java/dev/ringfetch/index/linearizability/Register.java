package dev.ringfetch.index.linearizability;

import java.util.List;

/**
 * What is under one key, as the definition of the service has it: a register with a version. It
 * says which answer each call may get, and what is there afterwards.
 *
 * <p>A write that is open leaves a version behind that nobody was told. All that is known of it is
 * that it grew; the first answer that shows it makes it exact.
 *
 * @param present whether there is an entry
 * @param value its value; 0 if there is none
 * @param version the last version that the key had, also before its entry was deleted; the least
 *     that this can be unless it is exact
 * @param exact whether the version is known
 */
record Register(boolean present, long value, long version, boolean exact) {
  /** Nothing was written yet. */
  static final Register INITIAL = new Register(false, 0, 0, true);

  /**
   * The registers that may be after a call that is answered so; none if it cannot be. More than one
   * only after a compare-and-set that is open and meets a version that is not exact.
   */
  List<Register> after(Call call, Answer answer) {
    return switch (call.kind()) {
      case GET, BATCH_GET -> afterRead(answer);
      case PUT, BATCH_PUT -> afterPut(call.value(), answer);
      case DELETE -> afterDelete(answer);
      case REMOVAL ->
          present && (call.value() == 0 || value == call.value())
              ? List.of(new Register(false, 0, version, true))
              : List.of(this);
      case COMPARE_AND_SET ->
          answer.isOpen()
              ? afterOpenComparison(call)
              : answer.yes() ? afterApplied(call, answer) : afterLost(call, answer);
    };
  }

  private List<Register> afterRead(Answer answer) {
    if (answer.version() == 0) {
      return present ? List.of() : List.of(this);
    }
    return present && value == answer.value() && canBe(answer.version())
        ? List.of(written(value, answer.version()))
        : List.of();
  }

  private List<Register> afterPut(long put, Answer answer) {
    if (answer.isOpen()) {
      return List.of(writtenAbove(put, version));
    }
    return answer.yes() == !present && answer.version() > version
        ? List.of(written(put, answer.version()))
        : List.of();
  }

  private List<Register> afterDelete(Answer answer) {
    return answer.isOpen() || answer.yes() == present
        ? List.of(new Register(false, 0, version, true))
        : List.of();
  }

  private List<Register> afterApplied(Call call, Answer answer) {
    return canBe(call.expected())
            && answer.value() == call.value()
            && answer.version() > Math.max(version, call.expected())
        ? List.of(written(call.value(), answer.version()))
        : List.of();
  }

  /** The answer is the entry that was in the way, so it must not be the expected one. */
  private List<Register> afterLost(Call call, Answer answer) {
    return answer.version() == call.expected() ? List.of() : afterRead(answer);
  }

  private List<Register> afterOpenComparison(Call call) {
    if (!canBe(call.expected())) {
      return List.of(this);
    }
    final Register applied = writtenAbove(call.value(), Math.max(version, call.expected()));
    return present && !exact ? List.of(applied, this) : List.of(applied);
  }

  /** Whether this is the state that a comparison expects: a version, or with 0 absence. */
  private boolean canBe(long expected) {
    if (expected == 0 || !present) {
      return expected == 0 && !present;
    }
    return exact ? version == expected : version <= expected;
  }

  private static Register written(long value, long version) {
    return new Register(true, value, version, true);
  }

  private static Register writtenAbove(long value, long version) {
    return new Register(true, value, version + 1, false);
  }
}
