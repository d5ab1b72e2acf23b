package dev.ringfetch.index.store;

import dev.ringfetch.index.v1.Entry;
import java.util.ArrayList;
import java.util.List;

/** The snapshots of an ordered index that are open. Used by the partition's owner alone. */
final class Snapshots {
  private final List<Snapshot> open = new ArrayList<>();

  void add(Snapshot snapshot) {
    removeEnded();
    open.add(snapshot);
  }

  /** Whether entries must be kept before they change. */
  boolean areOpen() {
    if (open.isEmpty()) {
      return false;
    }
    removeEnded();
    return !open.isEmpty();
  }

  private void removeEnded() {
    open.removeIf(snapshot -> !snapshot.isOpen());
  }

  /** Keeps an entry that is about to change. */
  void keep(Entry entry) {
    for (int i = 0; i < open.size(); i++) {
      open.get(i).keep(entry);
    }
  }
}
