/**
 * Internal: sessions: handshake, ownership by one thread at a time, streams and their credit,
 * deadlines, liveness; everything between the frames of a ring and the calls of an API, which it
 * does not know.
 */
package dev.ringfetch.session;
