package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.TRAILERS;

import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.Units;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A response as it came out of the ring: what is to be told to the listener of the call.
 *
 * <p>Almost every response has a message and the status OK, and no sections; it is read without
 * making one of these.
 */
final class Response {
  /** Headers, or null when the server closed without any. */
  Metadata headers;

  /** Where the message is in the unit; its length is -1 when there is none. */
  int messageOffset;

  int messageLength = -1;
  Status status;
  Metadata trailers;

  private Response() {}

  /** Reads the unit that came in. What is wrong with it becomes the status. */
  static Response read(ClientStream stream, ClientLimits limits) {
    final Response response = new Response();
    if (stream.inboundDiscarded()) {
      return response.failed(
          Status.RESOURCE_EXHAUSTED.withDescription(
              Units.tooLong(limits.maxInboundMessageLength(), stream.inboundTotal())));
    }
    try {
      response.readSections(stream, limits);
    } catch (MalformedUnitException e) {
      return response.failed(
          Status.INTERNAL.withDescription("Malformed response: " + e.getMessage()));
    }
    return response;
  }

  private void readSections(ClientStream stream, ClientLimits limits)
      throws MalformedUnitException {
    final int flags = stream.inboundFlags();
    final ByteBuffer unit = stream.inbound().view();
    status = Status.fromCodeValue(stream.inboundCode() & 0xFF);
    trailers = new Metadata();
    if ((flags & CLOSE) != 0) {
      return;
    }
    final boolean hasMetadata = (flags & METADATA) != 0;
    final Metadata sent =
        hasMetadata ? readMetadata(Sections.takeFirst(unit), limits) : new Metadata();
    if ((flags & TRAILERS) != 0) {
      trailers = readMetadata(Sections.takeLast(unit), limits);
    }
    if ((flags & DESCRIPTION) != 0) {
      status =
          status.withDescription(StandardCharsets.UTF_8.decode(Sections.takeLast(unit)).toString());
    }
    if (sent == null || trailers == null) {
      failed(
          Status.RESOURCE_EXHAUSTED.withDescription(
              "metadata exceeds maximum size " + limits.maxInboundMetadataLength()));
      return;
    }
    if ((flags & PREFIX) != 0) {
      headers = sent;
    }
    if ((flags & MESSAGE) != 0) {
      messageOffset = unit.position();
      messageLength = unit.remaining();
    } else if (unit.hasRemaining()) {
      throw new MalformedUnitException("remaining=" + unit.remaining());
    }
    if (messageLength > limits.maxInboundMessageLength()) {
      final int length = messageLength;
      failed(
          Status.RESOURCE_EXHAUSTED.withDescription(
              Units.tooLong(limits.maxInboundMessageLength(), length)));
    }
  }

  /** Null when it is too long. */
  private static Metadata readMetadata(ByteBuffer block, ClientLimits limits)
      throws MalformedUnitException {
    final byte[][] parts = Sections.readBlock(block);
    return Sections.countedLength(parts) > limits.maxInboundMetadataLength()
        ? null
        : InternalMetadata.newMetadata(parts);
  }

  private Response failed(Status failure) {
    messageLength = -1;
    status = failure;
    trailers = new Metadata();
    return this;
  }
}
