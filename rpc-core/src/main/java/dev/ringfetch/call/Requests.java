package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;

import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.Deadline;
import io.grpc.Metadata;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Writer of the sections of a request; {@link Request} reads them. */
final class Requests {
  /** Headers that gRPC's transports set themselves; the caller's are dropped, as in gRPC. */
  private static final List<Metadata.Key<String>> RESERVED =
      Stream.of("content-type", "te", "user-agent", "content-length", "grpc-accept-encoding")
          .map(name -> Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER))
          .toList();

  private static final Metadata.Key<String> TIMEOUT =
      Metadata.Key.of("grpc-timeout", Metadata.ASCII_STRING_MARSHALLER);

  private Requests() {}

  /** Time that is left, in nanoseconds, or {@link ClientStream#NO_DEADLINE}. */
  static long remainingNs(Deadline deadline) {
    return deadline == null
        ? ClientStream.NO_DEADLINE
        : deadline.timeRemaining(TimeUnit.NANOSECONDS);
  }

  /** The same in terms of a session's clock. */
  static long deadlineNs(ClientSession session, long remainingNs) {
    return remainingNs == ClientStream.NO_DEADLINE
        ? ClientStream.NO_DEADLINE
        : session.nanoTime() + remainingNs;
  }

  /**
   * Adds the sections before the message, and returns their flags.
   *
   * @param authority the call's own, or null.
   */
  static int addSections(UnitBuffer unit, long remainingNs, Metadata headers, String authority) {
    int flags = 0;
    if (remainingNs != ClientStream.NO_DEADLINE) {
      unit.addLong(remainingNs);
      flags |= DEADLINE;
    }
    if (!Sections.isEmpty(headers)) {
      RESERVED.forEach(headers::discardAll);
      if (remainingNs != ClientStream.NO_DEADLINE) {
        headers.discardAll(TIMEOUT);
      }
    }
    if (!Sections.isEmpty(headers) || authority != null) {
      Sections.addMetadata(unit, headers, authority);
      flags |= METADATA;
    }
    return flags;
  }
}
