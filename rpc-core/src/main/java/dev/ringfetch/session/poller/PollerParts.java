package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Tally;
import org.agrona.concurrent.NanoClock;

/**
 * The objects that the parts of a poller share.
 *
 * @param host the poller, for its backup threads.
 * @param token that makes a thread the driver.
 * @param lease of the token, while that thread runs tasks.
 */
record PollerParts(
    BackupHost host, OwnerToken token, PollerLease lease, NanoClock clock, Tally tally) {}
