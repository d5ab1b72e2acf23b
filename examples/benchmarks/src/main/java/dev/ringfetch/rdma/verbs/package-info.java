/**
 * Verbs alone, as a floor for what is measured: they stand in the package of the natives, which are
 * nobody's API.
 */
package dev.ringfetch.rdma.verbs;
