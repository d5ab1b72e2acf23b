package dev.ringfetch.call;

import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.unit.SegmentOutput;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Helper that marshals messages into units. */
final class Messages {
  private static final int CHUNK_LENGTH = 4096;

  private Messages() {}

  /**
   * Adds a marshalled message to a unit, and closes it. A message that knows its length and fills
   * an array (as those of protobuf do) is serialised directly into the unit.
   *
   * <p>A long one is serialised into registered memory, from which the peer reads it; also one that
   * writes itself and only estimates its length, such as those of Arrow Flight.
   *
   * @param maxLength longest message in bytes.
   * @param pool of that memory.
   * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED when the message is longer, and
   *     UNAVAILABLE when the peer takes that memory away.
   */
  static void write(InputStream message, UnitBuffer unit, int maxLength, BulkPool pool)
      throws IOException {
    try (message) {
      final int start = unit.length();
      if (message instanceof KnownLength || message instanceof ByteArrayInputStream) {
        final int length = message.available();
        check(length, maxLength);
        if (length > pool.threshold()) {
          final boolean stands =
              message instanceof RegisteredInput registered && registered.addTo(unit, pool);
          if (!stands) {
            writeRegistered(
                unit, pool, () -> writeBulk(message, new SegmentOutput(unit, pool, length)));
          }
          return;
        }
        final int index = unit.extend(length);
        final int read = message.readNBytes(unit.array(), index, length);
        if (read != length) {
          throw wrongLength(length - read);
        }
        unit.reserve(1);
        if (message.read(unit.array(), index + length, 1) > 0) {
          throw wrongLength(-1);
        }
      } else if (message instanceof Drainable drainable) {
        final int estimate = Math.min(message.available(), maxLength);
        if (estimate > pool.threshold()) {
          writeRegistered(
              unit, pool, () -> writeEstimated(drainable, unit, pool, estimate, maxLength));
        } else {
          drainable.drainTo(new UnitOutput(unit, maxLength));
        }
      } else {
        copy(message, unit, start, maxLength);
      }
    }
  }

  /**
   * Writes a long message into registered memory. A peer that takes the memory away ends its
   * session, and so this call. If it fails halfway, the memory is given back here, because the unit
   * is not sent and its call may never use it again.
   */
  private static void writeRegistered(UnitBuffer unit, BulkPool pool, Writing writing)
      throws IOException {
    boolean written = false;
    try {
      writing.run();
      pool.verify();
      written = true;
    } catch (InternalError e) {
      if (!pool.endIfGone(e)) {
        throw e;
      }
      throw Status.UNAVAILABLE
          .withDescription("the peer took registered memory away")
          .withCause(e)
          .asRuntimeException();
    } finally {
      if (!written) {
        unit.releaseSegments();
      }
    }
  }

  private static void writeBulk(InputStream message, SegmentOutput output) throws IOException {
    if (message instanceof Drainable drainable) {
      drainable.drainTo(output);
    } else {
      message.transferTo(output);
    }
    if (output.missing() != 0) {
      throw wrongLength(output.missing());
    }
  }

  private static void writeEstimated(
      Drainable message, UnitBuffer unit, BulkPool pool, int estimate, int maxLength)
      throws IOException {
    final SegmentOutput output = new SegmentOutput(unit, pool, estimate, maxLength);
    final int length = message.drainTo(output);
    check(output.missing() < 0 ? Math.max(length, maxLength + 1L) : length, maxLength);
    output.end();
  }

  /** Writes a message. */
  @FunctionalInterface
  private interface Writing {
    void run() throws IOException;
  }

  private static StatusRuntimeException wrongLength(int missing) {
    return Status.INTERNAL
        .withDescription(
            missing < 0
                ? "message is longer than it says"
                : "message is shorter than it says: missing=" + missing)
        .asRuntimeException();
  }

  private static void copy(InputStream message, UnitBuffer unit, int start, int maxLength)
      throws IOException {
    for (; ; ) {
      final int before = unit.length();
      final int index = unit.extend(CHUNK_LENGTH);
      final int read = message.readNBytes(unit.array(), index, CHUNK_LENGTH);
      unit.truncate(before + read);
      check(unit.length() - start, maxLength);
      if (read < CHUNK_LENGTH) {
        return;
      }
    }
  }

  /** Throws if the message is too long. */
  static void check(long length, int maxLength) {
    if (length > maxLength) {
      throw Status.RESOURCE_EXHAUSTED
          .withDescription("message too large " + length + " > " + maxLength)
          .asRuntimeException();
    }
  }
}
