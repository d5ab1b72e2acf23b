package dev.ringfetch.index.client;

import java.util.Optional;

/**
 * The answer of {@link KeyedIndex#compareAndSet}.
 *
 * @param applied whether the value was written.
 * @param entry the entry after the call: the one that was written, or the one with another version.
 *     Empty if there is none.
 */
public record CompareAndSetResult<K, V>(boolean applied, Optional<IndexEntry<K, V>> entry) {}
