package dev.ringfetch.rpc;

import dev.ringfetch.protocol.MalformedMessageException;
import dev.ringfetch.protocol.Message;
import dev.ringfetch.protocol.MessageType;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;

/** The gRPC service that opens sessions, as {@code session.proto} describes it. */
final class SessionService {
  static final String NAME = "ringfetch.v1.SessionService";

  /** Opens a session, and is under way as long as that is. */
  static final MethodDescriptor<OpenRequest, OpenResponse> OPEN =
      MethodDescriptor.newBuilder(
              new Marshaller<>(OpenRequest.TYPE), new Marshaller<>(OpenResponse.TYPE))
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, "Open"))
          .build();

  private SessionService() {}

  /** Marshaller of a step. */
  private record Marshaller<M extends Message<M>>(MessageType<M> type)
      implements MethodDescriptor.Marshaller<M> {
    @Override
    public InputStream stream(M step) {
      return new ByteArrayInputStream(step.encode());
    }

    @Override
    public M parse(InputStream stream) {
      try {
        return type.parse(stream.readNBytes(MessageType.MAX_LENGTH + 1));
      } catch (MalformedMessageException e) {
        throw Status.INTERNAL
            .withDescription("malformed step of a handshake: " + e.getMessage())
            .withCause(e)
            .asRuntimeException();
      } catch (IOException e) { // such as the limit of gRPC's own, which names its status
        throw Status.INTERNAL.withDescription(e.toString()).withCause(e).asRuntimeException();
      }
    }
  }
}
