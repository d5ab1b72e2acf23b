/**
 * Internal: in-memory indexes from byte-string keys to versioned entries. Knows no transport and no
 * service.
 */
package dev.ringfetch.index.store;
