/**
 * Carriers between sides without common memory: answers that are read or pushed, datagrams, the
 * pace of reads, and turns where a card serves many sessions.
 */
package dev.ringfetch.session.remote;
