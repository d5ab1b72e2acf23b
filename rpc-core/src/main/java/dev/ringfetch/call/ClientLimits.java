package dev.ringfetch.call;

import dev.ringfetch.session.unit.Units;

/**
 * What a client's calls accept and send, in bytes.
 *
 * @param maxInboundMessageLength longest response.
 * @param maxInboundMetadataLength longest headers or trailers of a response, as gRPC counts them.
 */
public record ClientLimits(int maxInboundMessageLength, int maxInboundMetadataLength) {
  /** Longest unit that can hold what is accepted. */
  int maxUnitLength() {
    return Units.maxLength(maxInboundMessageLength, maxInboundMetadataLength);
  }
}
