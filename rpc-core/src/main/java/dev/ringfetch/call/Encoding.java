package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.COMPRESSED;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;

import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.Codec;
import io.grpc.Compressor;
import io.grpc.Decompressor;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * The compression of one call's messages, in both directions. Since memory is not a wire, nothing
 * is compressed unless a caller or a handler asks for it by name; other calls have no such object.
 * Each message carries a flag that says whether it is compressed.
 */
public final class Encoding {
  /** Header with the name of a side's compression; gRPC's own key. */
  static final Metadata.Key<String> NAME =
      Metadata.Key.of("grpc-encoding", Metadata.ASCII_STRING_MARSHALLER);

  /** The status of a call that gets a compressed message without a known compression. */
  static final Status NOT_CONFIGURED =
      Status.INTERNAL.withDescription(
          "Can't decode compressed gRPC message as compression not configured");

  private Compressor compressor;
  private Decompressor decompressor;
  private boolean enabled = true;
  private long lengthBefore;

  /** Creates the encoding of a call that compresses nothing yet. */
  Encoding() {}

  /** Sets the compressor of later messages; null for none. */
  void compressor(Compressor compressor) {
    this.compressor = compressor;
  }

  /** Sets the decompressor of compressed inbound messages. */
  void decompressor(Decompressor decompressor) {
    this.decompressor = decompressor;
  }

  /** Sets whether later messages are compressed, if there is a compressor. */
  void enabled(boolean enabled) {
    this.enabled = enabled;
  }

  boolean isEnabled() {
    return enabled;
  }

  /** Returns the name of the compressor, or null. */
  String compressorName() {
    return compressor == null ? null : compressor.getMessageEncoding();
  }

  boolean canDecompress() {
    return decompressor != null;
  }

  /** A codec, or null when it leaves bytes as they are. */
  static Compressor orNone(Compressor compressor) {
    return compressor == Codec.Identity.NONE ? null : compressor;
  }

  /** A codec, or null when it leaves bytes as they are. */
  static Decompressor orNone(Decompressor decompressor) {
    return decompressor == Codec.Identity.NONE ? null : decompressor;
  }

  /**
   * Adds a marshalled message to a unit, and closes it.
   *
   * @param encoding of the call, or null.
   * @param maxLength longest message in bytes, before it is compressed and after.
   * @param pool of memory for a long one that is not compressed.
   * @return the unit's flags that say so.
   */
  public static int write(
      Encoding encoding, InputStream message, UnitBuffer unit, int maxLength, BulkPool pool)
      throws IOException {
    if (encoding == null || !encoding.compresses(message)) {
      Messages.write(message, unit, maxLength, pool);
      return MESSAGE;
    }
    encoding.compress(message, unit, maxLength);
    return MESSAGE | COMPRESSED;
  }

  /** Length of the message that was written last, before compression. */
  static long lengthBefore(Encoding encoding, int flags, int length) {
    return (flags & COMPRESSED) == 0 ? length : encoding.lengthBefore;
  }

  private boolean compresses(InputStream message) throws IOException {
    if (compressor == null || !enabled) {
      return false;
    }
    final boolean isKnown =
        message instanceof KnownLength || message instanceof ByteArrayInputStream;
    return !isKnown || message.available() > 0; // an empty one would only grow
  }

  private void compress(InputStream message, UnitBuffer unit, int maxLength) throws IOException {
    final int start = unit.length();
    try (message;
        OutputStream compressed = compressor.compress(new UnitOutput(unit, Integer.MAX_VALUE))) {
      lengthBefore =
          message instanceof Drainable drainable
              ? drainable.drainTo(compressed)
              : message.transferTo(compressed);
    }
    Messages.check(lengthBefore, maxLength);
    Messages.check(
        unit.length() - start, maxLength); // data that cannot be compressed becomes longer
  }

  /** Decompresses a message; its compression is known. */
  Decompressed read(InputStream message, int maxLength) throws IOException {
    return new Decompressed(decompressor.decompress(message), maxLength);
  }

  /** The stream of a decompressed message, limited in length. */
  static final class Decompressed extends FilterInputStream {
    private final int maxLength;
    private long length;
    private long markedLength;

    Decompressed(InputStream message, int maxLength) {
      super(message);
      this.maxLength = maxLength;
    }

    /** Bytes that were read. */
    long length() {
      return length;
    }

    @Override
    public int read() throws IOException {
      final int value = in.read();
      if (value != -1) {
        count(1);
      }
      return value;
    }

    @Override
    public int read(byte[] destination, int offset, int wanted) throws IOException {
      final int count = in.read(destination, offset, wanted);
      if (count != -1) {
        count(count);
      }
      return count;
    }

    @Override
    public long skip(long wanted) throws IOException {
      final long count = in.skip(wanted);
      count(count);
      return count;
    }

    @Override
    public synchronized void mark(int readLimit) {
      in.mark(readLimit);
      markedLength = length;
    }

    @Override
    public synchronized void reset() throws IOException {
      in.reset();
      length = markedLength;
    }

    private void count(long bytes) {
      length += bytes;
      if (length > maxLength) {
        throw Status.RESOURCE_EXHAUSTED
            .withDescription("Decompressed gRPC message exceeds maximum size " + maxLength)
            .asRuntimeException();
      }
    }
  }
}
