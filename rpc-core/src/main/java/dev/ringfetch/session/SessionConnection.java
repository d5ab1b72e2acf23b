package dev.ringfetch.session;

import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;

/**
 * The connection that a session is created on.
 *
 * @param queuePair connected, and bound to no listener yet.
 * @param geometry of the memory that both sides share.
 * @param longReads whether both sides READ long messages where they cannot load them.
 * @param poller that owns the queue pair's doorbell.
 */
public record SessionConnection(
    QueuePair queuePair, Geometry geometry, boolean longReads, Poller poller) {

  /** A connection between sides that both READ long messages. */
  public SessionConnection(QueuePair queuePair, Geometry geometry, Poller poller) {
    this(queuePair, geometry, true, poller);
  }
}
