/**
 * Verbs without Ringfetch: the floor of the measurements over RDMA. A client and a server on the
 * bindings of the native library, the pair of processes that runs them, and the count of work
 * requests for a call.
 */
package dev.ringfetch.examples.verbs;
