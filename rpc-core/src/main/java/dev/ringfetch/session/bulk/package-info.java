/**
 * Registered memory: the pools out of which a peer reads long messages, their budget, and the
 * exchange that makes them known to the peer. Knows a session as a {@link
 * dev.ringfetch.session.bulk.BulkOwner}.
 */
package dev.ringfetch.session.bulk;
