package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Tally;
import org.agrona.concurrent.NanoClock;

/**
 * What the parts of a poller share.
 *
 * @param host the poller, for its backup threads.
 * @param token that makes a thread the poller's.
 * @param lease of the token, while that thread runs what others gave it.
 */
record PollerParts(
    BackupHost host, OwnerToken token, PollerLease lease, NanoClock clock, Tally tally) {}
