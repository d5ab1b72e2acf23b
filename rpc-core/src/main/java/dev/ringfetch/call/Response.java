package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.TRAILERS;

import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import dev.ringfetch.session.unit.Units;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A response as it came out of the ring: the headers, message and status for the call's listener.
 *
 * <p>Almost every response has a message and the status OK, and no sections; it is read without
 * such an object.
 */
final class Response {
  /** Headers, or null when the server closed without any. */
  Metadata headers;

  /** Index of the message in the unit; its length is -1 when there is none. */
  int messageOffset;

  int messageLength = -1;
  Status status;
  Metadata trailers;

  /** True when this side has set the status, because the response is invalid. */
  boolean isFailed;

  private Response() {}

  /** Reads the stream's inbound unit. An error in it becomes the status. */
  static Response read(ClientStream stream, ClientLimits limits) {
    return stream.inboundDiscarded()
        ? new Response().tooLong(stream.inboundTotal(), limits)
        : read(stream.inboundFlags(), stream.inboundCode(), stream.inbound(), limits);
  }

  /** Reads an inbound unit. An error in it becomes the status. */
  static Response read(Unit unit, ClientLimits limits) {
    return unit.discarded()
        ? new Response().tooLong(unit.total(), limits)
        : read(unit.flags(), unit.code(), unit.bytes(), limits);
  }

  private static Response read(int flags, int code, UnitBuffer bytes, ClientLimits limits) {
    final Response response = new Response();
    try {
      response.readSections(flags, code, bytes.view(), limits);
    } catch (MalformedUnitException e) {
      return response.failed(
          Status.INTERNAL.withDescription("Malformed response: " + e.getMessage()));
    }
    return response;
  }

  private void readSections(int flags, int code, ByteBuffer unit, ClientLimits limits)
      throws MalformedUnitException {
    status = Status.fromCodeValue(ProcessTime.status(code));
    trailers = new Metadata();
    if ((flags & CLOSE) != 0) { // a CLOSE has no room for a description
      if (status.getCode() == Status.Code.UNAVAILABLE) {
        status = status.withDescription("the server has ended the session");
      }
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
      tooLong(messageLength, limits);
    }
  }

  private Response tooLong(int length, ClientLimits limits) {
    return failed(
        Status.RESOURCE_EXHAUSTED.withDescription(
            Units.tooLong(limits.maxInboundMessageLength(), length)));
  }

  /** Null when it is too long. */
  private static Metadata readMetadata(ByteBuffer block, ClientLimits limits)
      throws MalformedUnitException {
    final byte[][] parts = Sections.readBlock(block, 0);
    return Sections.countedLength(parts, 0) > limits.maxInboundMetadataLength()
        ? null
        : InternalMetadata.newMetadata(parts);
  }

  private Response failed(Status failure) {
    isFailed = true;
    messageLength = -1;
    status = failure;
    trailers = new Metadata();
    return this;
  }
}
