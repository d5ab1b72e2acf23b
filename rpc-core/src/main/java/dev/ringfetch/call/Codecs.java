package dev.ringfetch.call;

import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;

/**
 * The compressors and decompressors that one side may use for its messages.
 *
 * @param compressors by name.
 * @param decompressors by name.
 */
public record Codecs(CompressorRegistry compressors, DecompressorRegistry decompressors) {
  /** gRPC's defaults. */
  public static final Codecs DEFAULT =
      new Codecs(
          CompressorRegistry.getDefaultInstance(), DecompressorRegistry.getDefaultInstance());
}
