/**
 * Internal: the fabric SPI in the vocabulary of RDMA verbs: memory that a peer reaches one-sidedly,
 * the queue pairs that reach it, and the doorbells that wake a sleeping poller. Exported to the
 * project's own providers.
 */
package dev.ringfetch.fabric;
