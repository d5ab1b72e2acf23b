/**
 * Internal: the fabric between processes of one user on one host: memory is a mapped file, a
 * doorbell is a Unix-domain socket, and the end of that socket is the end of the peer.
 */
package dev.ringfetch.fabric.shm;
