package dev.ringfetch.call;

/**
 * The limits of what a server's calls accept, in bytes.
 *
 * @param maxInboundMessageLength longest request.
 * @param maxInboundMetadataLength longest headers of a request, as gRPC counts them.
 */
public record ServerLimits(int maxInboundMessageLength, int maxInboundMetadataLength) {
  /** Those of gRPC. */
  public static final ServerLimits DEFAULT = new ServerLimits(4 * 1024 * 1024, 8 * 1024);
}
