/**
 * Internal: the RDMA fabric {@code verbs}, its provider, connections, queues and doorbells, on
 * DiSNI and on {@link dev.ringfetch.rdma.natives}.
 */
package dev.ringfetch.rdma.verbs;
