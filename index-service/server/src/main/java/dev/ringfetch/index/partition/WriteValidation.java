package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.v1.Entry;

/**
 * The owner's validation of writes of one key: computes what each answers, and whether it changes
 * the key's entry.
 *
 * <p>Used by the owner alone.
 */
final class WriteValidation {
  /** The result of a validation. */
  enum Verdict {
    /** The write has a record. */
    CHANGES,
    /** The write changes nothing; if it has a number, its outcome has a record. */
    UNCHANGED,
    /** The write only reads: it has no record. */
    READS
  }

  private final EntryStore store;
  private final KeyState present;

  WriteValidation(EntryStore store, KeyState present) {
    this.store = store;
    this.present = present;
  }

  /** Validates a write by the state of its key, which is looked at. */
  Verdict validate(Write write) {
    present.look(write.key());
    final long version = present.version();
    return switch (write.kind()) {
      case PUT -> {
        if (write.answersPrevious() && version != 0) {
          write.found(present.entry());
          write.keepAnswer(
              write.client() == null ? ByteString.EMPTY : write.entry().toByteString());
        }
        yield changes(write, version == 0);
      }
      case DELETE, TOUCH -> {
        if (!accepts(write.expectedVersion(), version)) {
          yield unchanged(write, version);
        }
        if (write.kind() == WriteKind.TOUCH) {
          write.writes(write.key(), present.entry().getValue());
        }
        yield changes(write, true);
      }
      case INCREMENT -> {
        final Entry found = present.entry();
        yield write.count(found)
            ? changes(write, found == null)
            : unchanged(write, found.getValue().size());
      }
      case COMPARE_AND_SET -> {
        if (version == write.expectedVersion()) {
          if (write.keepsDeadline() && version != 0) {
            write.deadline(present.deadline());
          }
          yield changes(write, true);
        }
        write.found(present.entry());
        yield unchanged(write, version);
      }
      case RANGE_BEGIN -> Verdict.READS;
      case RANGE_DELETE ->
          version == 0 || write.removed() >= write.expectedVersion()
              ? Verdict.READS
              : changes(write, true);
      case RANGE_END ->
          unchanged(write, OutcomeKind.range(write.removed(), write.expectedVersion() != 0));
      case READ -> {
        store.check(write.key());
        write.found(present.entry());
        yield Verdict.READS;
      }
      case TRANSACTION, TICK -> throw new IllegalStateException("kind=" + write.kind());
    };
  }

  /** Whether a delete or a touch accepts the entry with this version; 0 if there is none. */
  private static boolean accepts(long expected, long found) {
    return found != 0 && (expected == 0 || expected == found);
  }

  /** Completes the answer of a write that was carried out before. */
  void repeat(Write write) {
    if (write.kind() == WriteKind.COMPARE_AND_SET && !write.applied() && write.detail() != 0) {
      present.look(write.key());
      write.foundAgain(present.version() == write.detail() ? present.entry() : null);
    }
  }

  private Verdict changes(Write write, boolean found) {
    write.found(found);
    write.former = present.place();
    return Verdict.CHANGES;
  }

  private static Verdict unchanged(Write write, long found) {
    write.unchanged(found);
    return Verdict.UNCHANGED;
  }
}
