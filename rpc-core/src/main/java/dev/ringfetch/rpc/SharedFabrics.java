package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.session.SessionContext;
import java.lang.ref.Cleaner;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The fabrics that channels of this process share: channels with the same selection, directory and
 * spin time share the fabrics and one polling thread. The last channel closes them.
 */
final class SharedFabrics {
  private static final Map<Key, SharedFabrics> SHARED = new HashMap<>();

  private final Key key;
  private final Cleaner orphans = Cleaner.create(); // its thread ends with the last channel's
  private volatile Fabrics fabrics; // null until a user has opened them

  @GuardedBy("SHARED")
  private int users;

  private SharedFabrics(Key key) {
    this.key = key;
  }

  /** Returns the fabrics, and opens them if no other channel has; called by {@code build()}. */
  static SharedFabrics acquire(
      FabricSelection selection, FabricContext fabricContext, SessionContext sessionContext) {
    final Key key = new Key(selection, fabricContext.directory(), sessionContext.spinNs());
    final SharedFabrics shared;
    synchronized (SHARED) {
      shared = SHARED.computeIfAbsent(key, SharedFabrics::new);
      shared.users++;
    }
    try {
      shared.open(fabricContext, sessionContext);
    } catch (RuntimeException | Error e) {
      shared.release();
      throw e;
    }
    return shared;
  }

  /**
   * Opens the fabrics. It takes long: only channels that share these fabrics wait for each other.
   */
  private synchronized void open(FabricContext fabricContext, SessionContext sessionContext) {
    if (fabrics == null) {
      fabrics = new Fabrics(key.selection, fabricContext, sessionContext, 1, "ringfetch-client");
    }
  }

  Counters counters() {
    return fabrics.counters();
  }

  /** Returns the cleaner for channels that were collected. */
  Cleaner orphans() {
    return orphans;
  }

  Fabrics fabrics() {
    return fabrics;
  }

  /** Releases; called once for each acquire. */
  void release() {
    synchronized (SHARED) {
      if (--users > 0) {
        return;
      }
      SHARED.remove(key);
    }
    final Fabrics opened = fabrics;
    if (opened != null) { // the last user may have failed to open them
      opened.close();
    }
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
