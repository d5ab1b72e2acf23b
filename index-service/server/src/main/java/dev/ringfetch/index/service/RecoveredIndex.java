package dev.ringfetch.index.service;

import dev.ringfetch.index.store.StoredIndex;

/**
 * An index that a server has found in its journal.
 *
 * @param entry what the server knows of it
 * @param index its store, with all entries
 * @param last LSN of each partition behind which the next one goes on
 */
record RecoveredIndex(CatalogEntry entry, StoredIndex index, long[] last) {}
