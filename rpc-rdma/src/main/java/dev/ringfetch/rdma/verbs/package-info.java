/**
 * Internal: the RDMA fabric {@code verbs}, its provider, connections, queues and doorbells, on
 * DiSNI and on {@code dev.ringfetch.rdma.natives}.
 */
package dev.ringfetch.rdma.verbs;
