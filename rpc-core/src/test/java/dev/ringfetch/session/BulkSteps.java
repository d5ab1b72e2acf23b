package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.BulkDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.bulk.BulkAccess;
import dev.ringfetch.session.unit.SegmentOutput;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Both sides of a session, driven step by step, with little registered memory. */
final class BulkSteps {
  static final int THRESHOLD = 1000;
  static final int SEGMENT_LENGTH = 2 * BulkAccess.PAGE_LENGTH;
  static final int POOL_LENGTH = 8 * SEGMENT_LENGTH;

  final SessionSteps steps;
  final FlowSteps flows;

  BulkSteps(Sizes sizes) {
    this(sizes, POOL_LENGTH);
  }

  /** Creates both sides, each of which registers at most so much. */
  BulkSteps(Sizes sizes, int poolLength) {
    steps =
        new SessionSteps(
            sizes,
            context ->
                context
                    .bulkThreshold(THRESHOLD)
                    .bulkSegmentLength(SEGMENT_LENGTH)
                    .bulkLength(poolLength));
    flows = new FlowSteps(steps);
  }

  /** Has both sides attach memory of the other. */
  BulkSteps attached() {
    assertNull(steps.client.bulk().allocate(1), "memory before it was asked for");
    assertNull(steps.server.bulk().allocate(1), "memory before it was asked for");
    steps.settle();
    assertEquals(1, steps.server.exchange.attached().size());
    assertEquals(1, steps.client.exchange.attached().size());
    return this;
  }

  /** A frame that has no padding. */
  record Frame(int streamId, int flags, int code, int length, int region, int bytes, long offset) {
    boolean has(int flag) {
      return (flags & flag) != 0;
    }
  }

  /** What a side has written since it was here: no more than fits in its ring. */
  List<Frame> frames(Session session, long position) {
    final boolean requests = session == steps.client;
    final MemoryRegion memory = steps.fabric.region();
    final int requestLength = steps.geometry.requestRingLength();
    final int ring =
        requests
            ? ArenaDescriptor.REQUEST_RING_OFFSET
            : ArenaDescriptor.responseRingOffset(requestLength);
    final int slots =
        (requests ? requestLength : steps.geometry.responseRingLength())
            / FrameDescriptor.SLOT_LENGTH;
    assertTrue(session.writePosition() - position <= slots, "more than is in the ring");
    final List<Frame> frames = new ArrayList<>();
    for (long at = position; at != session.writePosition(); ) {
      final int frame = ring + (int) (at & (slots - 1)) * FrameDescriptor.SLOT_LENGTH;
      final int length = memory.getInt(frame + FrameDescriptor.LENGTH_OFFSET);
      final int flagsAndCode = memory.getInt(frame + FrameDescriptor.FLAGS_OFFSET);
      final int payload = frame + FrameDescriptor.PAYLOAD_OFFSET;
      if ((flagsAndCode & FrameDescriptor.PAD) == 0) {
        frames.add(
            new Frame(
                memory.getInt(frame + FrameDescriptor.STREAM_ID_OFFSET),
                flagsAndCode & 0xFFFF,
                flagsAndCode >>> Short.SIZE,
                length,
                memory.getInt(payload + BulkDescriptor.REGION_OFFSET),
                memory.getInt(payload + BulkDescriptor.LENGTH_OFFSET),
                memory.getLong(payload + BulkDescriptor.OFFSET_OFFSET)));
      }
      at += FrameDescriptor.slots(length);
    }
    return frames;
  }

  /** Those that name registered memory with bytes of a unit. */
  List<Frame> bulkFrames(Session session, long position) {
    return frames(session, position).stream()
        .filter(frame -> frame.has(FrameDescriptor.BULK) && frame.streamId != 0)
        .toList();
  }

  /** Adds a message to a unit, as calls do. */
  static void put(Session session, UnitBuffer unit, byte[] message) {
    if (message.length > session.bulk().threshold()) {
      final SegmentOutput output = new SegmentOutput(unit, session.bulk(), message.length);
      output.write(message, 0, message.length);
      assertEquals(0, output.missing());
    } else {
      unit.addBytes(message, 0, message.length);
    }
  }

  static Unit unit(Session session, int flags, byte[] message) {
    final UnitBuffer bytes = new UnitBuffer();
    put(session, bytes, message);
    return new Unit(flags, 0, bytes);
  }

  Call prepare(byte[] request, long timeoutNs) {
    final Call call = steps.prepare(new byte[0], timeoutNs);
    put(steps.client, call.stream.outbound(), request);
    return call;
  }

  Call send(byte[] request) {
    final Call call = prepare(request, Stream.NO_DEADLINE);
    steps.client.send(call.stream);
    return call;
  }

  void respond(ServerCall call, byte[] response) {
    put(steps.server, call.stream.outbound(), response);
    steps.server.respond(call.stream, SessionSteps.UNIT, 0, true);
  }

  /** A call whose request and response are this long, each of its own bytes. */
  void exchange(int length) {
    final byte[] request = FlowSteps.message(length, length);
    final byte[] response = FlowSteps.message(length, ~length);
    final Call call = send(request);
    steps.settle();
    final ServerCall served = steps.request();
    if (!Arrays.equals(request, served.request)) {
      throw new AssertionError("request of " + length);
    }
    respond(served, response);
    steps.settle();
    if (!Arrays.equals(response, call.response)) {
      throw new AssertionError("response of " + length);
    }
  }

  /** Asserts that all leased memory is free again, once both sides have looked. */
  void assertGivenBack() {
    steps.client.driver.requestRound();
    steps.server.driver.requestRound();
    for (final Session session : List.of(steps.client, steps.server)) {
      assertEquals(0, session.bulk().usedLength(), session.side() + " uses memory");
      assertEquals(
          0, BulkAccess.droppedUnits(session.bulk()), session.side() + " has left memory behind");
    }
  }

  /** A frame that names a range of registered memory. */
  static byte[] name(int region, int length, long offset) {
    return ByteBuffer.allocate(BulkDescriptor.DESCRIPTOR_LENGTH)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(region)
        .putInt(length)
        .putLong(offset)
        .array();
  }
}
