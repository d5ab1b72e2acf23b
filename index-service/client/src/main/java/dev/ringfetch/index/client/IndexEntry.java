package dev.ringfetch.index.client;

import java.time.Instant;
import java.util.Optional;

/**
 * A key with its value, version and deadline.
 *
 * @param version of the entry: each write of the key has a greater one as long as the index exists.
 *     {@link KeyedIndex#compareAndSet} compares it. Unsigned, never 0.
 * @param deadline when the entry ends, by the server's clock; empty if never.
 */
public record IndexEntry<K, V>(K key, V value, long version, Optional<Instant> deadline) {
  /** Creates an entry without a deadline. */
  public IndexEntry(K key, V value, long version) {
    this(key, value, version, Optional.empty());
  }

  /** The deadline of an answer, in milliseconds since 1970; 0 if there is none. */
  static Optional<Instant> deadline(long millis) {
    return millis == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(millis));
  }
}
