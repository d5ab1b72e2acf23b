package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.v1.Comparison.Relation;
import dev.ringfetch.index.v1.Field.Encoding;
import dev.ringfetch.index.v1.Field.Source;
import dev.ringfetch.index.v1.FieldComparison;

/**
 * A part of entries that a {@link Filter} compares, or that is summed up: the version, or bytes of
 * the key or the value, as a codec has encoded them. An entry that is too short has no such field;
 * then no comparison holds, {@link #isNot} neither.
 *
 * <pre>{@code
 * Filter cheap = Field.value().int32(8).atMost(100L);     // bytes 8 to 11, little-endian
 * Filter german = Field.key().bytes(0, 3).is(ByteString.copyFromUtf8("de:"));
 * index.scan().where(cheap.and(german));
 * }</pre>
 *
 * <p>Immutable. Safe for use by many threads.
 *
 * @param <T> what it is compared with.
 */
public final class Field<T> {
  private final dev.ringfetch.index.v1.Field message;

  private Field(dev.ringfetch.index.v1.Field.Builder message) {
    this.message = message.build();
  }

  /** The version. */
  public static Field<Long> version() {
    return new Field<>(dev.ringfetch.index.v1.Field.newBuilder().setSource(Source.VERSION));
  }

  /** The bytes of the key, in the order of unsigned bytes. */
  public static Field<ByteString> key() {
    return new Field<>(dev.ringfetch.index.v1.Field.newBuilder().setSource(Source.KEY));
  }

  /** The bytes of the value. */
  public static Field<ByteString> value() {
    return new Field<>(dev.ringfetch.index.v1.Field.newBuilder());
  }

  /** The bytes of the value of a {@link SpatialIndex}, behind the box. */
  public static Field<ByteString> located() {
    return new Field<>(dev.ringfetch.index.v1.Field.newBuilder().setOffset(BoxDescriptor.LENGTH));
  }

  private <N> Field<N> number(int offset, int length, Encoding encoding) {
    if (message.getSource() == Source.VERSION
        || message.getEncoding() != Encoding.BYTES
        || message.getLength() != 0) {
      throw new IllegalStateException("not all bytes of a key or a value: field=" + this);
    }
    if (offset < 0) {
      throw new IllegalArgumentException("offset=" + offset + " is negative");
    }
    return new Field<>(
        message.toBuilder()
            .setOffset(message.getOffset() + offset)
            .setLength(length)
            .setEncoding(encoding));
  }

  /** A part of these bytes; of an entry that is shorter, as much as it has. */
  public Field<ByteString> bytes(int offset, int length) {
    if (length < 1) {
      throw new IllegalArgumentException("length=" + length + " is not positive");
    }
    return number(offset, length, Encoding.BYTES);
  }

  /** A signed number of 8 bytes, little-endian. */
  public Field<Long> int64(int offset) {
    return number(offset, Long.BYTES, Encoding.SIGNED);
  }

  /** A signed number of 4 bytes, little-endian. */
  public Field<Long> int32(int offset) {
    return number(offset, Integer.BYTES, Encoding.SIGNED);
  }

  /** An unsigned number of 1 to 8 bytes, little-endian; what it is compared with is below 2^63. */
  public Field<Long> unsigned(int offset, int bytes) {
    return number(offset, bytes, Encoding.UNSIGNED);
  }

  /** A number of 8 bytes as {@link Codec#int64} encodes it, and counters are. */
  public Field<Long> counter(int offset) {
    return number(offset, Long.BYTES, Encoding.ORDERED);
  }

  /** A floating-point number of 8 bytes, little-endian. Of a NaN only {@link #isNot} holds. */
  public Field<Double> float64(int offset) {
    return number(offset, Double.BYTES, Encoding.FLOATING);
  }

  /** As {@link #float64}, of 4 bytes. */
  public Field<Double> float32(int offset) {
    return number(offset, Float.BYTES, Encoding.FLOATING);
  }

  /** The same number with its most significant byte first. */
  public Field<T> bigEndian() {
    return new Field<>(message.toBuilder().setBigEndian(true));
  }

  /** It is equal. */
  public Filter is(T operand) {
    return compare(Relation.EQUAL, operand);
  }

  /** It is another one. */
  public Filter isNot(T operand) {
    return compare(Relation.NOT_EQUAL, operand);
  }

  /** It is less. */
  public Filter lessThan(T operand) {
    return compare(Relation.LESS, operand);
  }

  /** It is less, or equal. */
  public Filter atMost(T operand) {
    return compare(Relation.LESS_OR_EQUAL, operand);
  }

  /** It is greater. */
  public Filter greaterThan(T operand) {
    return compare(Relation.GREATER, operand);
  }

  /** It is greater, or equal. */
  public Filter atLeast(T operand) {
    return compare(Relation.GREATER_OR_EQUAL, operand);
  }

  private Filter compare(Relation relation, T operand) {
    final FieldComparison.Builder comparison =
        FieldComparison.newBuilder().setField(message).setRelation(relation);
    if (operand instanceof Long number) {
      comparison.setInteger(number);
    } else if (operand instanceof Double number) {
      comparison.setFloating(number);
    } else {
      comparison.setBytes((ByteString) operand);
    }
    return Filter.of(dev.ringfetch.index.v1.Filter.newBuilder().setComparison(comparison).build());
  }

  dev.ringfetch.index.v1.Field message() {
    return message;
  }

  @Override
  public String toString() {
    return message.getSource() == Source.VERSION
        ? "version"
        : (message.getSource() == Source.KEY ? "key" : "value")
            + "["
            + message.getOffset()
            + ", "
            + message.getLength()
            + "] "
            + message.getEncoding();
  }
}
