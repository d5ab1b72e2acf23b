package dev.ringfetch.index.host;

import java.util.List;

/**
 * The indexes that are in the journal at one moment.
 *
 * @param lsn of the last record of their creations and removals
 * @param newest the largest number an index ever had
 * @param indexes in the order of their numbers
 */
public record CatalogState(long lsn, long newest, List<ServedIndex> indexes) {}
