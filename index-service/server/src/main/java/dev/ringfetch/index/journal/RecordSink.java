package dev.ringfetch.index.journal;

import java.io.IOException;
import java.util.Map;
import java.util.function.Supplier;

/** Receives the records of a journal, in their order. */
@FunctionalInterface
public interface RecordSink {
  /**
   * Takes a record, whose view is valid until this returns.
   *
   * @param place says where it stands, for people, until this returns
   * @throws IOException to end the recovery
   */
  void onRecord(JournalRecord record, Supplier<String> place) throws IOException;

  /**
   * Called before the first record of the snapshot that the recovery begins with.
   *
   * @param entries number of entries of each index in it, by its number
   */
  default void onSnapshot(Map<Long, Long> entries) {}

  /**
   * Takes a record of the snapshot that the recovery begins with, before all others; else as {@link
   * #onRecord}.
   */
  default void onSnapshotRecord(JournalRecord record, Supplier<String> place) throws IOException {
    onRecord(record, place);
  }

  /** Ends what was begun for records, after the last one. */
  default void onEnd() throws IOException {}
}
