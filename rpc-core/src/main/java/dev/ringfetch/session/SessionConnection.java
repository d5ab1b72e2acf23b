package dev.ringfetch.session;

import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;

/**
 * The connection that a session is created on.
 *
 * @param queuePair connected, and bound to no listener yet.
 * @param geometry of the memory that both sides share.
 * @param poller that owns the queue pair's doorbell.
 */
public record SessionConnection(QueuePair queuePair, Geometry geometry, Poller poller) {}
