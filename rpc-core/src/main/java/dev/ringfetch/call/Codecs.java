package dev.ringfetch.call;

import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;

/**
 * What the messages of one side may be compressed with, and may have been compressed with.
 *
 * @param compressors by name.
 * @param decompressors by name.
 */
public record Codecs(CompressorRegistry compressors, DecompressorRegistry decompressors) {
  /** What gRPC has unless told otherwise. */
  public static final Codecs DEFAULT =
      new Codecs(
          CompressorRegistry.getDefaultInstance(), DecompressorRegistry.getDefaultInstance());
}
