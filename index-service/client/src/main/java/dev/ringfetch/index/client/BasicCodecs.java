package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.AppendDescriptor;
import dev.ringfetch.index.layout.CounterDescriptor;
import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.UUID;
import java.util.function.Function;

/** The codecs of basic types. */
final class BasicCodecs {
  private static final int INSTANT_LENGTH = Long.BYTES + Integer.BYTES;
  private static final int UUID_LENGTH = 2 * Long.BYTES;

  static final OrderedCodec<String> STRING =
      new Translation<>("string", 0, BasicCodecs::encodeString, BasicCodecs::decodeString);

  static final OrderedCodec<Long> INT64 =
      new Translation<>(
          "int64",
          CounterDescriptor.LENGTH,
          CounterDescriptor::value, // so that the server can add to it
          CounterDescriptor::number);

  /** Offsets of records, which are not negative. */
  static final OrderedCodec<Long> OFFSET =
      new Translation<>("offset", Long.BYTES, AppendDescriptor::key, AppendDescriptor::offset);

  static final OrderedCodec<UUID> UUID_BYTES =
      new Translation<>(
          "uuid",
          UUID_LENGTH,
          uuid ->
              wrap(
                  ByteBuffer.allocate(UUID_LENGTH)
                      .putLong(uuid.getMostSignificantBits())
                      .putLong(uuid.getLeastSignificantBits())),
          BasicCodecs::decodeUuid);

  static final OrderedCodec<Instant> INSTANT =
      new Translation<>(
          "instant",
          INSTANT_LENGTH,
          instant ->
              wrap(
                  ByteBuffer.allocate(INSTANT_LENGTH)
                      .putLong(flip(instant.getEpochSecond()))
                      .putInt(instant.getNano())),
          BasicCodecs::decodeInstant);

  static final OrderedCodec<byte[]> BYTES =
      new Translation<>("bytes", 0, ByteString::copyFrom, ByteString::toByteArray);

  static final OrderedCodec<ByteString> BYTE_STRING =
      new Translation<>("bytes", 0, Function.identity(), Function.identity());

  private BasicCodecs() {}

  /** A codec made of two functions. */
  private record Translation<T>(
      String name,
      int fixedLength,
      Function<T, ByteString> encoder,
      Function<ByteString, T> decoder)
      implements OrderedCodec<T> {
    @Override
    public ByteString encode(T value) {
      return encoder.apply(value);
    }

    @Override
    public T decode(ByteString bytes) {
      if (fixedLength != 0 && bytes.size() != fixedLength) {
        throw new IllegalArgumentException(
            "length=" + bytes.size() + " is not that of " + name + ": " + fixedLength);
      }
      return decoder.apply(bytes);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static long flip(long number) {
    return number ^ Long.MIN_VALUE;
  }

  private static ByteString wrap(ByteBuffer filled) {
    return ByteString.copyFrom(filled.flip());
  }

  private static ByteString encodeString(String text) {
    for (int i = 0; i < text.length(); i++) {
      final char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        if (Character.isHighSurrogate(c)
            && i + 1 < text.length()
            && Character.isLowSurrogate(text.charAt(i + 1))) {
          i++;
        } else {
          throw new IllegalArgumentException("string has an unpaired surrogate: position=" + i);
        }
      }
    }
    return ByteString.copyFromUtf8(text);
  }

  private static String decodeString(ByteString bytes) {
    if (!bytes.isValidUtf8()) {
      throw new IllegalArgumentException("bytes are no UTF-8: length=" + bytes.size());
    }
    return bytes.toStringUtf8();
  }

  private static UUID decodeUuid(ByteString bytes) {
    final ByteBuffer buffer = bytes.asReadOnlyByteBuffer();
    final long most = buffer.getLong();
    return new UUID(most, buffer.getLong());
  }

  private static Instant decodeInstant(ByteString bytes) {
    final ByteBuffer buffer = bytes.asReadOnlyByteBuffer();
    final long seconds = flip(buffer.getLong());
    try {
      return Instant.ofEpochSecond(seconds, buffer.getInt());
    } catch (DateTimeException | ArithmeticException e) {
      throw new IllegalArgumentException("bytes are no instant: " + e.getMessage(), e);
    }
  }
}
