package dev.ringfetch.call;

import dev.ringfetch.session.unit.Units;

/**
 * The limits of a client's calls, in bytes.
 *
 * @param maxInboundMessageLength longest response.
 * @param maxInboundMetadataLength longest headers or trailers of a response, as gRPC counts them.
 */
public record ClientLimits(int maxInboundMessageLength, int maxInboundMetadataLength) {
  /** The longest unit of an accepted response. */
  int maxUnitLength() {
    return Units.maxLength(maxInboundMessageLength, maxInboundMetadataLength);
  }
}
