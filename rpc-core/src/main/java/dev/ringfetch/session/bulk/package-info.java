/**
 * Registered memory: the pools out of which a peer reads long messages, their budget, the exchange
 * that makes them known to the peer, and the window of READs out of the peer's. Knows a session as
 * a {@link dev.ringfetch.session.bulk.BulkOwner}.
 */
package dev.ringfetch.session.bulk;
