package dev.ringfetch.index.client;

import java.util.Optional;

/**
 * The answer of {@link KeyedIndex#compareAndSet}.
 *
 * @param applied whether the value was written.
 * @param entry the entry after the call: the one that was written, or the one that was in the way.
 *     Empty where there is none.
 */
public record CompareAndSetResult<K, V>(boolean applied, Optional<IndexEntry<K, V>> entry) {}
