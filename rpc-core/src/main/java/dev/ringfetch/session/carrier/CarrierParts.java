package dev.ringfetch.session.carrier;

import dev.ringfetch.counters.Tally;
import org.agrona.concurrent.NanoClock;

/**
 * The objects that a carrier consists of.
 *
 * @param rings both rings of this side.
 * @param session that the carrier works for.
 * @param clock of the session.
 * @param tally of the session.
 */
public record CarrierParts(RingPair rings, CarrierSession session, NanoClock clock, Tally tally) {}
