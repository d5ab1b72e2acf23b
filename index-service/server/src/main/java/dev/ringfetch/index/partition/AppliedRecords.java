package dev.ringfetch.index.partition;

import dev.ringfetch.index.store.EntryStore;
import org.jspecify.annotations.Nullable;

/**
 * The owner's application of committed records, in the order of their LSNs: to the store, to the
 * clock, and to the receiver of changes.
 *
 * <p>Used by the owner alone.
 */
final class AppliedRecords {
  private final EntryStore store;
  private final @Nullable ExpiryCycle expiry; // null if the store has no deadlines
  private @Nullable ChangeListener changes; // null if there is no receiver
  private boolean growing;

  AppliedRecords(EntryStore store, @Nullable ExpiryCycle expiry) {
    this.store = store;
    this.expiry = expiry;
  }

  /**
   * Begins to report changes.
   *
   * @param applied LSN up to which all records are applied
   */
  void watch(ChangeListener receiver, long applied) {
    if (changes != receiver) {
      changes = receiver;
      changes.begin(applied);
    }
  }

  /** Reports no more changes to this receiver. */
  void unwatch(ChangeListener receiver) {
    changes = changes == receiver ? null : changes;
  }

  void apply(Write record) {
    for (Write part = record.firstPart(); part != null; part = part.nextPart) {
      applyPart(part);
    }
    if (changes != null && record.kind() != WriteKind.TICK && !record.isUnchanged()) {
      changes.onChange(record);
    }
  }

  private void applyPart(Write record) {
    if (record.writesEntry()) {
      store.put(record.key(), record.value(), record.version(), record.deadline());
      growing = true;
    } else if (record.kind() == WriteKind.TICK) {
      expiry.apply(record);
    } else if (!record.isUnchanged()) {
      store.delete(record.key());
    }
  }

  /** Whether the store has to grow further. */
  boolean isGrowing() {
    return growing;
  }

  /** Does one step of the store's growth. */
  void grow() {
    growing = store.grow();
  }

  void onCycleEnd() {
    if (changes != null) {
      changes.onCycleEnd();
    }
  }
}
