package dev.ringfetch.rpc;

import dev.ringfetch.counters.Counters;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.session.SessionContext;
import java.lang.ref.Cleaner;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Fabrics of this process's channels: those that select the same, use the same directory and spin
 * as long share them, and one polling thread. Closed with the last.
 */
final class SharedFabrics {
  private static final Map<Key, SharedFabrics> SHARED = new HashMap<>();

  private final Key key;
  private final Cleaner orphans = Cleaner.create(); // its thread ends with the last channel's
  private final Fabrics fabrics;
  private int users;

  private SharedFabrics(Key key, Fabrics fabrics) {
    this.key = key;
    this.fabrics = fabrics;
  }

  static SharedFabrics acquire(
      FabricSelection selection, FabricContext fabricContext, SessionContext sessionContext) {
    final Key key = new Key(selection, fabricContext.directory(), sessionContext.spinNs());
    synchronized (SHARED) {
      final SharedFabrics shared =
          SHARED.computeIfAbsent(
              key,
              absent ->
                  new SharedFabrics(
                      key,
                      new Fabrics(
                          selection, fabricContext, sessionContext, 1, "ringfetch-client")));
      shared.users++;
      return shared;
    }
  }

  Counters counters() {
    return fabrics.counters();
  }

  /** Tells that a channel was collected. */
  Cleaner orphans() {
    return orphans;
  }

  Fabrics fabrics() {
    return fabrics;
  }

  /** Called once by each that acquired. */
  void release() {
    synchronized (SHARED) {
      if (--users > 0) {
        return;
      }
      SHARED.remove(key);
    }
    fabrics.close();
  }

  private record Key(FabricSelection selection, Path directory, long spinNs) {
    /** Written out for the reason of {@link FabricSelection#equals}. */
    @Override
    public boolean equals(Object other) {
      return other instanceof Key key
          && selection.equals(key.selection)
          && directory.equals(key.directory)
          && spinNs == key.spinNs;
    }

    @Override
    public int hashCode() {
      return Objects.hash(selection, directory, spinNs);
    }
  }
}
