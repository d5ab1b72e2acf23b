/**
 * The index service, for a server of an application's own: its gRPC services, its indexes by name
 * and their memory, the node of a cluster, and the offline tools of a data directory.
 */
package dev.ringfetch.index.service;
