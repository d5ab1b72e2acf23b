package dev.ringfetch.index.client;

import java.util.Optional;

/**
 * A change of one entry, as a {@link Watch} brings it.
 *
 * @param kind what the change did.
 * @param key the key.
 * @param value the value that was written; empty after a removal, and where the watch is of keys
 *     alone.
 * @param version of the change: that of the entry it wrote; after a removal one between that of the
 *     entry it removed and that of a later one.
 * @param created whether it wrote a key that was absent before.
 */
public record IndexChange<K, V>(
    Kind kind, K key, Optional<V> value, long version, boolean created) {
  /** What a change does. */
  public enum Kind {
    /** An entry was written. */
    PUT,
    /** The entry was removed. */
    DELETE,
    /** The entry was removed as its time to live had ended. */
    EXPIRE
  }
}
