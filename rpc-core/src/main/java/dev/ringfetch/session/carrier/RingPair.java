package dev.ringfetch.session.carrier;

import dev.ringfetch.fabric.CompletionRouter;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.HintReceiver;
import dev.ringfetch.ring.HintSender;
import dev.ringfetch.ring.RingFetcher;
import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.ring.RingWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * One side's ends of a session's two rings, with the control lines beside them.
 *
 * @param queuePair that leads to the peer.
 * @param writer of the ring that the peer polls.
 * @param poller of the ring that the peer writes.
 * @param ownControl line that this side writes.
 * @param peerControl line that the peer writes.
 * @param maxFrameLength longest frame that may be written, in bytes.
 * @param completions of the queue pair.
 * @param fetcher of the ring that the peer writes; null where this side loads from it.
 * @param hintReceiver of the ring that is fetched; null without datagrams.
 * @param hintSender of the ring that the peer fetches; null without datagrams.
 */
public record RingPair(
    QueuePair queuePair,
    RingWriter writer,
    RingPoller poller,
    ControlFlyweight ownControl,
    ControlFlyweight peerControl,
    int maxFrameLength,
    CompletionRouter completions,
    @Nullable RingFetcher fetcher,
    @Nullable HintReceiver hintReceiver,
    @Nullable HintSender hintSender) {

  /**
   * The client writes the request ring and polls the response ring.
   *
   * @throws UncheckedIOException when there is no memory to fetch into.
   */
  public static RingPair ofClient(QueuePair queuePair, Geometry geometry) {
    final var own = new ControlFlyweight(queuePair, ArenaDescriptor.CLIENT_CONTROL_OFFSET);
    final var peer = new ControlFlyweight(queuePair, ArenaDescriptor.SERVER_CONTROL_OFFSET);
    final var poller =
        new RingPoller(
            queuePair,
            ArenaDescriptor.responseRingOffset(geometry.requestRingLength()),
            geometry.responseRingLength(),
            geometry.epoch(),
            geometry.responsePosition(),
            own);
    final RingFetcher fetcher =
        queuePair.capabilities().loadStore() ? null : fetcher(queuePair, geometry, poller);
    return new RingPair(
        queuePair,
        new RingWriter(
            queuePair,
            ArenaDescriptor.REQUEST_RING_OFFSET,
            geometry.requestRingLength(),
            geometry.epoch(),
            geometry.requestPosition(),
            peer),
        poller,
        own,
        peer,
        Math.min(geometry.maxFrameLength(), geometry.requestRingLength()),
        fetcher == null ? new CompletionRouter(queuePair) : fetcher.completions(),
        fetcher,
        hasDatagrams(queuePair) ? new HintReceiver(queuePair, poller) : null,
        null);
  }

  /** True when a datagram takes a slot, between sides that have memory of their own. */
  private static boolean hasDatagrams(QueuePair queuePair) {
    return !queuePair.capabilities().loadStore()
        && queuePair.capabilities().maxDatagram() >= FrameDescriptor.SLOT_LENGTH;
  }

  private static RingFetcher fetcher(QueuePair queuePair, Geometry geometry, RingPoller head) {
    try {
      return new RingFetcher(
          queuePair,
          head,
          ArenaDescriptor.responseRingOffset(geometry.requestRingLength()),
          geometry.responseRingLength(),
          ArenaDescriptor.SERVER_CONTROL_OFFSET,
          geometry.maxFrameLength());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The server polls the request ring and writes the response ring. */
  public static RingPair ofServer(QueuePair queuePair, Geometry geometry) {
    final var own = new ControlFlyweight(queuePair, ArenaDescriptor.SERVER_CONTROL_OFFSET);
    final var peer = new ControlFlyweight(queuePair, ArenaDescriptor.CLIENT_CONTROL_OFFSET);
    final int responseRing = ArenaDescriptor.responseRingOffset(geometry.requestRingLength());
    final int responseLength = geometry.responseRingLength();
    final var writer =
        new RingWriter(
            queuePair,
            responseRing,
            responseLength,
            geometry.epoch(),
            geometry.responsePosition(),
            peer);
    HintSender hintSender = null;
    if (hasDatagrams(queuePair)) {
      hintSender = new HintSender(queuePair, responseRing, responseLength, peer);
      writer.hints(hintSender);
    }
    return new RingPair(
        queuePair,
        writer,
        new RingPoller(
            queuePair,
            ArenaDescriptor.REQUEST_RING_OFFSET,
            geometry.requestRingLength(),
            geometry.epoch(),
            geometry.requestPosition(),
            own),
        own,
        peer,
        Math.min(geometry.maxFrameLength(), responseLength),
        new CompletionRouter(queuePair),
        null,
        null,
        hintSender);
  }
}
