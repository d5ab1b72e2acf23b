/**
 * Internal: the RDMA fabric: it carries the rings of a session between two hosts. Found as a
 * service, like every fabric; no other package refers to it.
 */
package dev.ringfetch.rdma;
