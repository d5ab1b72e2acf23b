package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.BulkDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.bulk.Segment;
import dev.ringfetch.session.bulk.Segments;
import dev.ringfetch.session.carrier.Delivery;
import dev.ringfetch.session.carrier.RingPair;
import dev.ringfetch.session.carrier.SendingTurn;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.unit.UnitBuffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The output of a session: queues streams with output, writes their units into the ring, and
 * publishes all at once. Of the long units, one is under way at a time: a peer without memory for
 * another one then has all the frames of those that it has begun to take (ADR 53). The other frames
 * alternate with those of the long unit, which does not delay a short one by more than a frame.
 */
@OwnedBy("session")
final class Outbox {
  /** Length of the payload of a window update that also tells the length of the window. */
  static final int MAX_UPDATE_LENGTH = Long.BYTES + Integer.BYTES;

  private final Session session;
  private final SendingTurn turn;
  private final Delivery delivery;
  private final MemoryRegion memory;
  private final RingWriter writer;
  private final RingPoller ring;
  private final ControlFlyweight ownControl;
  private final int maxPayload;
  private final Tally tally;
  private final OutboundLine line = new OutboundLine();
  private final ArrayDeque<Segment> reading = new ArrayDeque<>(); // by the peer
  private final ByteBuffer update =
      ByteBuffer.allocate(MAX_UPDATE_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
  private final ByteBuffer bulk =
      ByteBuffer.allocate(BulkDescriptor.DESCRIPTOR_LENGTH).order(ByteOrder.LITTLE_ENDIAN);

  private long released; // by the peer

  private @Nullable Stream underWay; // has a long unit of which frames are missing
  private boolean othersTurn; // the last frame was of that unit
  private long queuedLength;
  private boolean blocked;
  private boolean unsolicited;

  /** Creates the outbox; frames acknowledge the position of the ring of the other direction. */
  Outbox(Session session, RingPair rings) {
    this.session = session;
    this.turn = session.turn;
    this.delivery = session.delivery;
    this.memory = rings.queuePair().memory();
    this.writer = rings.writer();
    this.ring = rings.poller();
    this.ownControl = rings.ownControl();
    this.maxPayload =
        rings.maxFrameLength() / FrameDescriptor.SLOT_LENGTH * FrameDescriptor.SLOT_LENGTH
            - FrameDescriptor.OVERHEAD;
    this.tally = session.tally;
  }

  /** True while there is output and no credit for it. */
  boolean isBlocked() {
    return blocked;
  }

  /** True while the peer has registered memory to read. */
  boolean awaitsRelease() {
    return !reading.isEmpty();
  }

  /** True when no stream is queued. */
  boolean isEmpty() {
    return line.isEmpty();
  }

  /** Longest payload of one frame, in bytes. */
  int maxPayload() {
    return maxPayload;
  }

  /** Number of queued streams. */
  int length() {
    return line.length();
  }

  /** Drops queued output and memory that the peer has not read, because the session has ended. */
  void clear() {
    Stream stream;
    while ((stream = line.first()) != null) {
      line.remove(stream);
      left(stream);
      stream.outbound().releaseSegments();
    }
    turn.holds(true);
    Segment segment;
    while ((segment = reading.poll()) != null) { // each once, also where one of them throws
      segment.release();
    }
  }

  /** Queues a stream's unit, or its header-only frame. */
  void add(Stream stream) {
    if (!stream.outboundQueued) {
      stream.outboundQueued = true;
      line.add(stream);
      // a flow's units wait in the flow, and count there
      if (stream.flow == null && !stream.headerOnly) {
        stream.queuedLength = stream.outbound().length();
        queuedLength += stream.queuedLength;
      }
    }
  }

  /** Queues a frame that the peer does not expect, and so does not poll for. */
  void addUnsolicited(Stream stream) {
    stream.unsolicited = true;
    add(stream);
  }

  /** Queues a flow if it has a unit that may be sent. */
  void addNext(Stream stream) {
    queuedLength += stream.flow.newlyQueued();
    if (stream.flow.load(stream)) {
      add(stream);
    }
  }

  /** Removes a stream from the queue. */
  void remove(Stream stream) {
    if (stream.outboundQueued) {
      line.remove(stream);
      left(stream);
    }
  }

  private void left(Stream stream) {
    if (underWay == stream) {
      underWay = null;
    }
    stream.outboundQueued = false;
    queuedLength -= stream.queuedLength;
    stream.queuedLength = 0;
  }

  /** Drops the units of a flow, because its stream has ended. */
  void drop(Flow flow) {
    flow.dropOutbound();
    queuedLength += flow.newlyQueued();
  }

  /** Bytes that calls have handed over and that are not in the ring. */
  long queuedLength() {
    return queuedLength;
  }

  /**
   * Writes frames until the queue is empty or the ring is full.
   *
   * @return how many frames were written.
   */
  int flush() {
    if (!reading.isEmpty() && !takeBack()) {
      session.ending.blame("the peer released what it was never given");
      return 0;
    }
    if (turn.holds(line.isEmpty())) {
      return 0;
    }
    final long before = writer.position();
    int frames = 0;
    Stream stream;
    while ((stream = underWay == null ? line.first() : next()) != null) {
      final boolean update = isUpdateDue(stream);
      int written = write(stream, update);
      if (written == RingWriter.INSUFFICIENT_CREDIT && !blocked) {
        tally.add(Counter.SESSION_CREDIT_EXHAUSTED, 1);
        blocked = true;
        ownControl.blocked(true);
        memory.fullFence();
        written = write(stream, update);
      }
      if (written == RingWriter.PROTOCOL_VIOLATION) {
        session.ending.blame("the peer acknowledged what was never sent");
        break;
      }
      if (written == RingWriter.INSUFFICIENT_CREDIT) {
        session.onOutboundFull();
        break;
      }
      frames++;
      if (update && !stream.flow.isLoaded()) {
        line.remove(stream);
        stream.outboundQueued = false;
      } else if (!update && isWhole(stream)) {
        line.remove(stream);
        left(stream);
        unsolicited |= stream.unsolicited;
        session.onSent(stream);
      } else if (!update) {
        underWay = stream;
        othersTurn = true;
      }
    }
    unblock();
    if (writer.position() != before) { // also by the padding before a frame that has no room
      tally.add(Counter.SESSION_FRAMES_SENT, frames);
      publish();
    }
    return frames;
  }

  /** The stream that writes the next frame while a long unit is under way. */
  private Stream next() {
    if (othersTurn) {
      othersTurn = false;
      for (Stream other = line.first(); other != null; other = other.nextInLine) {
        if (isUpdateDue(other) || !isLong(other)) {
          return other;
        }
      }
    }
    return underWay;
  }

  private static boolean isUpdateDue(Stream stream) {
    return stream.flow != null && stream.flow.updateDue;
  }

  /** True when the peer may have to wait for memory for the unit, or it takes several frames. */
  private boolean isLong(Stream stream) {
    final UnitBuffer unit = stream.outbound();
    return !stream.headerOnly
        && (unit.segments() != null
            || unit.length() > Math.min(maxPayload, UnitBuffer.RETAINED_LENGTH));
  }

  private int write(Stream stream, boolean update) {
    return update ? writeUpdate(stream) : writeFrame(stream);
  }

  private void unblock() {
    if (blocked && line.isEmpty()) {
      blocked = false;
      ownControl.blocked(false);
    }
  }

  private void publish() {
    if (unsolicited) {
      unsolicited = false;
      delivery.onWrittenUnsolicited();
    } else {
      delivery.onWritten();
    }
  }

  /** Tells the peer how much of a flow this side's call has consumed. */
  private int writeUpdate(Stream stream) {
    final Flow flow = stream.flow;
    final int window = flow.untoldWindow();
    update.putLong(0, flow.consumedLength()).putInt(Long.BYTES, window);
    final int written =
        writer.write(
            stream.id,
            FrameDescriptor.WINDOW_UPDATE,
            0,
            (int) ring.position(),
            update.array(),
            0,
            window == 0 ? Long.BYTES : MAX_UPDATE_LENGTH);
    if (written == RingWriter.WRITTEN) {
      flow.onTold();
    }
    return written;
  }

  private static boolean isWhole(Stream stream) {
    final UnitBuffer unit = stream.outbound();
    return stream.headerOnly
        || (stream.outboundSent == unit.arrayLength() && nextPart(unit) == null);
  }

  private static Segments.Part nextPart(UnitBuffer unit) {
    final Segments segments = unit.segments();
    return segments == null ? null : segments.peek();
  }

  /**
   * Gives memory back to the pool that the peer has read. False when the peer claims to have read
   * too much.
   */
  boolean takeBack() {
    final long now = delivery.peerReleased();
    long count = now - released;
    if (count < 0 || count > reading.size()) {
      return false;
    }
    released = now;
    while (count-- > 0) {
      reading.remove().release();
    }
    return true;
  }

  private int writeFrame(Stream stream) {
    final int ack = (int) ring.position();
    if (stream.headerOnly) {
      return writer.write(stream.id, stream.outboundFlags, stream.outboundCode, ack, null, 0, 0);
    }
    final UnitBuffer unit = stream.outbound();
    if (unit.segments() != null) {
      return writePart(stream, unit, ack);
    }
    final int length = unit.length();
    final int sent = stream.outboundSent;
    final int flags;
    final int offset;
    final int bytes;
    if (stream.outboundBegun) {
      offset = unit.offset() + sent;
      bytes = Math.min(maxPayload, length - sent);
      flags = CONTINUATION | (sent + bytes < length ? PARTIAL : 0);
    } else if (length <= maxPayload) {
      offset = unit.offset();
      bytes = length;
      flags = stream.outboundFlags;
    } else {
      unit.storeLength();
      offset = 0;
      bytes = maxPayload;
      flags = stream.outboundFlags | PARTIAL;
    }
    final int written =
        writer.write(stream.id, flags, stream.outboundCode, ack, unit.array(), offset, bytes);
    if (written == RingWriter.WRITTEN) {
      stream.outboundBegun = true;
      stream.outboundSent = offset + bytes - unit.offset();
    }
    return written;
  }

  /**
   * Writes a frame of a unit with parts in registered memory: a chain, with the copied bytes first.
   */
  private int writePart(Stream stream, UnitBuffer unit, int ack) {
    final Segments.Part part = unit.segments().peek();
    final int sent = stream.outboundSent;
    final int end = part == null ? unit.arrayLength() : part.position();
    if (stream.outboundBegun && sent == end) {
      return writeBulk(stream, unit, part, ack);
    }
    final int headroom = stream.outboundBegun ? 0 : UnitBuffer.HEADROOM;
    if (!stream.outboundBegun) {
      unit.storeLength();
    }
    final int bytes = Math.min(maxPayload - headroom, end - sent);
    final boolean more = part != null || sent + bytes < end;
    final int flags = stream.outboundBegun ? CONTINUATION : stream.outboundFlags;
    final int written =
        writer.write(
            stream.id,
            more ? flags | PARTIAL : flags,
            stream.outboundCode,
            ack,
            unit.array(),
            unit.offset() + sent - headroom,
            bytes + headroom);
    if (written == RingWriter.WRITTEN) {
      stream.outboundBegun = true;
      stream.outboundSent = sent + bytes;
    }
    return written;
  }

  private int writeBulk(Stream stream, UnitBuffer unit, Segments.Part part, int ack) {
    final Segment segment = part.segment();
    bulk.putInt(BulkDescriptor.REGION_OFFSET, segment.regionNumber())
        .putInt(BulkDescriptor.LENGTH_OFFSET, part.length())
        .putLong(BulkDescriptor.OFFSET_OFFSET, (long) segment.offset() + part.offset());
    final boolean more = stream.outboundSent < unit.arrayLength() || !unit.segments().isLast();
    final int flags = CONTINUATION | BULK | (more ? PARTIAL : 0);
    final int written =
        writer.write(stream.id, flags, stream.outboundCode, ack, bulk.array(), 0, bulk.capacity());
    if (written == RingWriter.WRITTEN) {
      reading.add(unit.segments().take());
      tally.add(Counter.SESSION_BULK_SENT, part.length());
    }
    return written;
  }
}
