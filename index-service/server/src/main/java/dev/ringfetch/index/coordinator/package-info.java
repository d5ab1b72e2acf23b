/**
 * The coordinator's part in a cluster, as nodes use it: which groups there are, who leads them, and
 * which nodes live.
 */
package dev.ringfetch.index.coordinator;
