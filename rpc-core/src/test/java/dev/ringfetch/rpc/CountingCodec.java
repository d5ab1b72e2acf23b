package dev.ringfetch.rpc;

import io.grpc.Codec;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.atomic.AtomicInteger;

/** A codec of an application's own: it turns every bit around, and counts the messages. */
final class CountingCodec implements Codec {
  static final String NAME = "inverse";

  final AtomicInteger compressed = new AtomicInteger();
  final AtomicInteger decompressed = new AtomicInteger();

  @Override
  public String getMessageEncoding() {
    return NAME;
  }

  @Override
  public OutputStream compress(OutputStream out) {
    compressed.incrementAndGet();
    return new FilterOutputStream(out) {
      @Override
      public void write(int value) throws IOException {
        out.write(~value);
      }
    };
  }

  @Override
  public InputStream decompress(InputStream in) {
    decompressed.incrementAndGet();
    return new FilterInputStream(in) {
      @Override
      public int read() throws IOException {
        final int value = in.read();
        return value < 0 ? value : ~value & 0xFF;
      }

      @Override
      public int read(byte[] destination, int offset, int length) throws IOException {
        final int count = in.read(destination, offset, length);
        for (int i = 0; i < count; i++) {
          destination[offset + i] = (byte) ~destination[offset + i];
        }
        return count;
      }
    };
  }
}
