package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.PAD;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;

import dev.ringfetch.fabric.HeapMemory;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.bulk.BulkAccess;
import dev.ringfetch.session.unit.UnitBuffer;
import java.io.ByteArrayOutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The rules of docs/wire-format.md a second time: says of the frames in a ring, before a session
 * polls them, what that session must make of them. Changes nothing.
 */
abstract class FrameRules {
  private static final int SLOT = 64;
  private static final int OVERHEAD = 32;
  static final int MAX_OFFERS = 16;
  private static final VarHandle ACKED = field(RingWriter.class, "acked", long.class);

  private final MemoryRegion region;
  private final int ringOffset;
  private final int slots;
  private final long epoch;
  private final boolean checked;
  private final Session session;
  private final List<TakenUnit> units = new ArrayList<>();

  private final List<HeapMemory> registered;
  private final List<MemoryRegion> attached = new ArrayList<>();
  private int offers;

  private long acked;

  FrameRules(
      MemoryRegion region,
      int ringOffset,
      int ringLength,
      long epoch,
      Session session,
      List<HeapMemory> registered) {
    this.region = region;
    this.ringOffset = ringOffset;
    this.slots = ringLength / SLOT;
    this.epoch = epoch;
    this.checked = !session.carrier.armsAtOnce();
    this.session = session;
    this.registered = registered;
  }

  /**
   * A unit that the session takes in, for a call that is not over.
   *
   * @param flow whether it is one of a stream of many.
   */
  record TakenUnit(
      int id, boolean flow, int flags, int code, int total, boolean discarded, ByteBuffer bytes) {}

  /**
   * What comes of the frames that are there.
   *
   * @param frames that are looked at, an offending one among them.
   * @param position behind the last that is taken.
   * @param reject why the session ends, or null.
   * @param units that are whole, in order.
   */
  record Judgement(int frames, long position, Reject reject, List<TakenUnit> units) {}

  /** A unit on its way, as it is after the frames that were judged. */
  static final class Chain {
    final int id;
    int flags;
    int code;
    boolean partial;
    int total;
    long received;
    boolean discarded;
    boolean handed;
    boolean answered;
    boolean queued;
    boolean over; // nobody hears of it any more
    long held;
    FlowRules flow; // null while there is one unit each way
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Chain(int id) {
      this.id = id;
    }

    /** A stream of the session under test, as it is now. */
    Chain(Stream stream) {
      this(stream.id);
      flags = stream.incoming.flags();
      code = stream.incoming.code();
      partial = stream.incoming.isPartial();
      total = stream.incoming.total();
      received = stream.incoming.received();
      discarded = stream.incoming.isDiscarded();
      queued = stream.outboundQueued;
      flow = stream.flow == null ? null : new FlowRules(stream.flow);
      final UnitBuffer unit = stream.inbound();
      bytes.write(unit.array(), unit.offset(), unit.length());
    }

    TakenUnit unit() {
      return new TakenUnit(
          id, flow != null, flags, code, total, discarded, ByteBuffer.wrap(bytes.toByteArray()));
    }

    /** A window update has come. */
    Reject update(ByteBuffer payload) {
      return flow == null ? Reject.NO_FLOW : flow.update(payload);
    }

    Reject accept(int frameFlags, int frameCode, ByteBuffer payload, int maxLength) {
      final boolean more = (frameFlags & PARTIAL) != 0;
      if (((frameFlags & CONTINUATION) != 0) != partial) {
        return Reject.CHAIN_ORDER;
      }
      if (!partial) {
        flags = frameFlags & ~PARTIAL;
        code = frameCode;
        received = 0;
        bytes.reset();
        if (more && payload.remaining() < 4) {
          return Reject.CHAIN_LENGTH;
        }
        total = more ? payload.getInt() : payload.remaining();
        discarded = total > maxLength;
      }
      partial = more;
      received += payload.remaining();
      if (total < 0) {
        return Reject.CHAIN_NEGATIVE;
      }
      if (received > total) {
        return Reject.CHAIN_LONG;
      }
      if (more ? received == total : received < total) {
        return Reject.CHAIN_END;
      }
      if (!discarded) {
        final byte[] copy = new byte[payload.remaining()];
        payload.get(copy);
        bytes.write(copy, 0, copy.length);
      }
      return null;
    }
  }

  static VarHandle field(Class<?> owner, String name, Class<?> type) {
    try {
      return MethodHandles.privateLookupIn(owner, MethodHandles.lookup())
          .findVarHandle(owner, name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** CRC32C of the frame at a position, of its payload too unless that is null. */
  static int checksum(long epoch, long position, long word0, long word1, int ack, byte[] payload) {
    final ByteBuffer head =
        ByteBuffer.allocate(36)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(epoch)
            .putLong(position)
            .putLong(word0)
            .putLong(word1)
            .putInt(ack);
    final CRC32C crc = new CRC32C();
    crc.update(head.array());
    if (payload != null) {
      crc.update(payload);
    }
    return (int) crc.getValue();
  }

  private boolean isTorn(long position, int frame, int length) {
    if (!checked) {
      return false;
    }
    byte[] payload = null;
    if ((region.getInt(frame + 12) & PAD) == 0) {
      payload = new byte[length];
      region.getBytes(frame + 24, payload, 0, length);
    }
    final int checksum =
        checksum(
            epoch,
            position,
            region.getLong(frame),
            region.getLong(frame + 8),
            region.getInt(frame + 16),
            payload);
    return checksum != region.getInt(frame + 20);
  }

  /** Looks at the session as it is now. */
  abstract void begin();

  /** Judges one frame that is not padding. Null when it may be written. */
  abstract Reject onFrame(int streamId, int flags, int code, ByteBuffer payload);

  final void add(TakenUnit unit) {
    units.add(unit);
  }

  /** Judges what one poll takes. */
  final Judgement judge() {
    begin();
    units.clear();
    attached.clear();
    session.exchange.attached().forEach(memory -> attached.add(memory.region()));
    offers = BulkAccess.offers(session.exchange);
    acked = (long) ACKED.get(session.writer);
    long position = session.pollPosition();
    int frames = 0;
    final long start = position;
    while (position - start < 64) {
      final int slot = (int) Math.floorMod(position, (long) slots);
      final int frame = ringOffset + slot * SLOT;
      final int tag = (int) (((position ^ epoch) * 0x9E3779B97F4A7C15L) >>> 32);
      if (region.getInt(frame + 4) != tag) {
        break;
      }
      final int length = region.getInt(frame);
      if (length < 0 || length + (long) OVERHEAD > (long) (slots - slot) * SLOT) {
        return new Judgement(frames + 1, position, Reject.LENGTH, List.copyOf(units));
      }
      final int taken = (length + OVERHEAD + SLOT - 1) / SLOT;
      final long commit = (position ^ epoch) * 0xD1342543DE82EF95L;
      if (region.getLong(frame + taken * SLOT - 8) != commit || isTorn(position, frame, length)) {
        break;
      }
      position += taken;
      frames++;
      final Reject reject = judge(frame, length);
      if (reject != null) {
        return new Judgement(frames, position, reject, List.copyOf(units));
      }
    }
    return new Judgement(frames, position, null, List.copyOf(units));
  }

  private Reject judge(int frame, int length) {
    final int flags = region.getInt(frame + 12) & 0xFFFF;
    if ((flags & PAD) != 0) {
      return null;
    }
    final int step = region.getInt(frame + 16) - (int) acked;
    if (step < 0 || step > session.writePosition() - acked) {
      return Reject.ACK;
    }
    acked += step;
    final byte[] payload = new byte[length];
    region.getBytes(frame + 24, payload, 0, length);
    final int streamId = region.getInt(frame + 8);
    ByteBuffer bytes = ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN);
    if (streamId == 0 && flags == BULK) {
      return checked ? Reject.OFFER : offer(bytes); // behind cards there are none
    }
    if (streamId != 0 && (flags & BULK) != 0) {
      bytes = named(bytes);
      if (bytes == null) {
        return Reject.BULK;
      }
    }
    return onFrame(streamId, flags, region.getInt(frame + 12) >>> 16, bytes);
  }

  /** The session under test offers nothing, so there is nothing to be answered. */
  private Reject offer(ByteBuffer descriptor) {
    if (descriptor.remaining() == 0 || ++offers > MAX_OFFERS) {
      return Reject.OFFER;
    }
    answerOffer();
    if (descriptor.remaining() == 4) {
      final int number = Integer.reverseBytes(descriptor.getInt());
      if (number >= 0 && number < registered.size()) {
        attached.add(registered.get(number).heap());
      }
    }
    return null;
  }

  /** The bytes that a frame names, or null. */
  private ByteBuffer named(ByteBuffer descriptor) {
    if (descriptor.remaining() != 16) {
      return null;
    }
    final int number = descriptor.getInt();
    final int length = descriptor.getInt();
    final long offset = descriptor.getLong();
    if (number < 0
        || number >= attached.size()
        || length < 1
        || offset < 0
        || offset > attached.get(number).length() - length) {
      return null;
    }
    final byte[] bytes = new byte[length];
    attached.get(number).getBytes((int) offset, bytes, 0, length);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** An answer to the peer's offer of memory waits for room. */
  abstract void answerOffer();
}
