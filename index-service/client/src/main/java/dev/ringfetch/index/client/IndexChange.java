package dev.ringfetch.index.client;

import java.util.Optional;

/**
 * A change of one entry, delivered by a {@link Watch}.
 *
 * @param kind what the change did.
 * @param key the key.
 * @param value the value that was written; empty after a removal, and if the watch is of keys
 *     alone.
 * @param version of the change. A write has the version of its entry. The version of a removal is
 *     above that of the removed entry and below those of later entries.
 * @param created true if it wrote a key that was absent before.
 * @param crossing what it means for the watched box; empty if the watch is not of a box.
 */
public record IndexChange<K, V>(
    Kind kind,
    K key,
    Optional<V> value,
    long version,
    boolean created,
    Optional<Crossing> crossing) {
  /** The kind of a change. */
  public enum Kind {
    /** An entry was written. */
    PUT,
    /** The entry was removed. */
    DELETE,
    /** The entry was removed because its time to live had ended. */
    EXPIRE
  }

  /** The meanings of a change for a watched box. */
  public enum Crossing {
    /** The entry is in the box, and was not before. */
    ENTER,
    /** The entry was in the box and still is; it may have moved. */
    MOVE,
    /**
     * The entry was in the box, and is there no more: it was written elsewhere, which the value
     * says, removed, or its time to live has ended.
     */
    LEAVE
  }
}
