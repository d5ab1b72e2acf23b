package dev.ringfetch.call;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.WireFormat;
import dev.ringfetch.session.BulkOutput;
import dev.ringfetch.session.BulkPool;
import dev.ringfetch.session.Segment;
import dev.ringfetch.session.UnitBuffer;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Messages of protobuf some of whose bytes stand in registered memory already: these stay where
 * they are. They come last in the message, which protobuf lets fields do.
 */
final class RegisteredMessages {
  private static final String MARSHALLER = "io.grpc.protobuf.";
  private static final int MAX_TAG_AND_LENGTH = 10;

  private RegisteredMessages() {}

  /**
   * Adds a message to a unit, if it is one of those.
   *
   * @param stream of the message's marshaller; not read.
   * @return false when it is not: nothing was added.
   */
  static boolean write(Object message, InputStream stream, UnitBuffer unit, BulkPool pool)
      throws IOException {
    if (!pool.hasNames()
        || !(message instanceof Message whole)
        || !stream.getClass().getName().startsWith(MARSHALLER)) {
      return false;
    }
    final Map<FieldDescriptor, Segment> registered = find(whole, pool);
    if (registered.isEmpty()) {
      return false;
    }
    final Message.Builder rest = whole.toBuilder();
    registered.keySet().forEach(rest::clearField);
    final Message others = rest.buildPartial();
    final BulkOutput output = new BulkOutput(unit, pool, others.getSerializedSize());
    others.writeTo(output);
    for (final Map.Entry<FieldDescriptor, Segment> entry : registered.entrySet()) {
      add(entry.getKey(), entry.getValue(), unit, pool.segmentLength());
    }
    return true;
  }

  /** Those fields whose bytes are registered, each with its segment, retained. */
  private static Map<FieldDescriptor, Segment> find(Message message, BulkPool pool) {
    final Map<FieldDescriptor, Segment> found = new LinkedHashMap<>();
    for (final Map.Entry<FieldDescriptor, Object> entry : message.getAllFields().entrySet()) {
      if (entry.getValue() instanceof ByteString bytes) {
        final Segment segment = pool.named(bytes);
        if (segment != null) {
          found.put(entry.getKey(), segment);
        }
      }
    }
    return found;
  }

  private static void add(FieldDescriptor field, Segment segment, UnitBuffer unit, int step)
      throws IOException {
    final int start = unit.extend(MAX_TAG_AND_LENGTH);
    final CodedOutputStream coded =
        CodedOutputStream.newInstance(unit.array(), start, MAX_TAG_AND_LENGTH);
    coded.writeTag(field.getNumber(), WireFormat.WIRETYPE_LENGTH_DELIMITED);
    coded.writeUInt32NoTag(segment.length());
    unit.giveBack(coded.spaceLeft());
    for (int done = 0; done < segment.length(); done += step) {
      unit.addSegment(segment.retain(), done, Math.min(step, segment.length() - done));
    }
    segment.release();
  }
}
