package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.v1.Entry;
import org.jspecify.annotations.Nullable;

/**
 * The state of one key for the write that is validated: its entry after all records that were
 * appended, committed or not, and the record for which an answer about it waits.
 *
 * <p>Used by the owner alone; valid until the next look or record.
 */
final class KeyState {
  private final EntryStore store;
  private final UncommittedRecords records;
  private final @Nullable ExpiryCycle expiry; // null if the store has no deadlines
  private final boolean appendsAlone;
  private ByteString key;
  private @Nullable Write newest;
  private @Nullable Write seen;
  private long version;

  /**
   * Creates it.
   *
   * @param appendsAlone whether no other write may write an entry
   */
  KeyState(
      EntryStore store,
      UncommittedRecords records,
      @Nullable ExpiryCycle expiry,
      boolean appendsAlone) {
    this.store = store;
    this.records = records;
    this.expiry = expiry;
    this.appendsAlone = appendsAlone;
  }

  /** Looks at a key. */
  void look(ByteString lookedUp) {
    key = lookedUp;
    newest = records.newest(key);
    seen = newest;
    version = newest == null ? store.version(key) : newest.writesEntry() ? newest.version() : 0;
    if (version != 0 && expiry != null && expiry.isUsed() && expiry.hasEnded(deadline())) {
      version = 0;
      seen = expiry.tick();
    }
  }

  /** The version of the key's entry; 0 if it has none. */
  long version() {
    return version;
  }

  /** The uncommitted record for which an answer waits; null if there is none. */
  @Nullable Write seen() {
    return seen;
  }

  /** The deadline of the last entry of the key, which may have passed; 0 if it has none. */
  long deadline() {
    return newest == null ? store.deadline() : newest.deadline();
  }

  /**
   * The place of the last entry of the key, even if its deadline has passed; empty if it has none,
   * or the store has no places.
   */
  ByteString place() {
    if (newest == null) {
      return store.placeOf(key);
    }
    return newest.writesEntry() ? store.place(newest.value()) : ByteString.EMPTY;
  }

  /** The entry of the key; null if it has none. */
  @Nullable Entry entry() {
    if (version == 0) {
      return null;
    }
    return newest == null ? store.entry(key) : newest.written();
  }

  /**
   * Reserves memory for the entry that a write of the key writes.
   *
   * @return 0, or the negative outcome of the write
   */
  int reserve(Write write) {
    if (!store.accepts(write.value())) {
      return Write.NOT_A_BOX;
    }
    final AppendWrite append = write instanceof AppendWrite appended ? appended : null;
    if (appendsAlone != (append != null)) {
      return Write.NOT_AN_APPEND;
    }
    if (append != null && append.refusedBefore() != Write.DONE) {
      return append.refusedBefore();
    }
    final int valueLength = write.value().size();
    // A key with a record was admitted before that record.
    int refused = newest == null ? store.admit(valueLength) : 0;
    if (refused == 0) {
      refused = store.reserve(key.size(), valueLength, write.deadline() != 0);
    } else {
      write.detail(store.excess());
    }
    return refused < 0 ? Refusals.ofStore(refused) : 0;
  }

  /** Returns the reservations of the entries that a record will not write. */
  void release(Write record) {
    for (Write part = record.firstPart(); part != null; part = part.nextPart) {
      if (part.writesEntry()) {
        store.release(part.key().size(), part.value().size(), part.deadline() != 0);
      }
    }
  }
}
