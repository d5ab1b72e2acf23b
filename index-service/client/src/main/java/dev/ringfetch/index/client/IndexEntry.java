package dev.ringfetch.index.client;

/**
 * A key with what is stored under it.
 *
 * @param version differs with every write of the key, and only grows as long as the index exists:
 *     what {@link KeyedIndex#compareAndSet} expects. Unsigned, never 0.
 */
public record IndexEntry<K, V>(K key, V value, long version) {}
