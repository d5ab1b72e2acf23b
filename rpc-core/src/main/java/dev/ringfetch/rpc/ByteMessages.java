package dev.ringfetch.rpc;

import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Marshaller of messages that are plain byte arrays. */
final class ByteMessages implements MethodDescriptor.Marshaller<byte[]> {
  static final ByteMessages INSTANCE = new ByteMessages();

  private ByteMessages() {}

  /** Returns the same method, with byte arrays as messages. */
  static MethodDescriptor<byte[], byte[]> of(MethodDescriptor<?, ?> method) {
    return method.toBuilder(INSTANCE, INSTANCE).build();
  }

  @Override
  public InputStream stream(byte[] message) {
    return new Stream(message);
  }

  @Override
  public byte[] parse(InputStream stream) {
    try {
      // That of a stream of unknown length begins with a buffer of 8 KiB.
      return stream instanceof KnownLength
          ? stream.readNBytes(stream.available())
          : stream.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A stream that knows its length. */
  private static final class Stream extends ByteArrayInputStream implements KnownLength {
    Stream(byte[] message) {
      super(message);
    }
  }
}
