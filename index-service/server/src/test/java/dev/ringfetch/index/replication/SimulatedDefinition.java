package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.IndexDefinition;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The bytes of an index's definition. */
final class SimulatedDefinition {
  private SimulatedDefinition() {}

  static ByteString of(IndexDefinition definition) {
    final ByteBuffer buffer =
        ByteBuffer.allocate(IndexDefinition.LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    buffer
        .put((byte) definition.kind().getNumber())
        .put((byte) definition.durability().getNumber())
        .putShort((short) definition.partitions())
        .putInt(0)
        .putLong(definition.seed())
        .putLong(definition.incarnation())
        .flip();
    return ByteString.copyFrom(buffer);
  }
}
