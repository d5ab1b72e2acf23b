package dev.ringfetch.index.journal;

/**
 * The catalog's entry of an index: everything except its entries.
 *
 * @param number of the index in the journal; 0 if it is not in it
 * @param name of the index
 * @param definition what stays the same as long as there is the index
 */
public record CatalogEntry(long number, String name, IndexDefinition definition) {}
