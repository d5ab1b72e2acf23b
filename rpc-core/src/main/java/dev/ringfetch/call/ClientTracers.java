package dev.ringfetch.call;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.List;

/** The tracers of a client's call. */
public final class ClientTracers extends Tracers {
  /** The tracers of a call without any. */
  static final ClientTracers NONE = new ClientTracers(List.of());

  private final List<ClientStreamTracer> tracers;

  private ClientTracers(List<ClientStreamTracer> tracers) {
    super(tracers);
    this.tracers = tracers;
  }

  /** Creates the tracers of a call from its options; they may add headers. */
  static ClientTracers of(CallOptions options, Metadata headers) {
    final ClientStreamTracer.StreamInfo info =
        ClientStreamTracer.StreamInfo.newBuilder().setCallOptions(options).build();
    return new ClientTracers(
        options.getStreamTracerFactories().stream()
            .map(factory -> factory.newClientStreamTracer(info, headers))
            .toList());
  }

  /**
   * Tells the tracers of a call that has ended on this side, before there was a stream for it.
   *
   * @param headers of the caller, which do not change.
   */
  public static void closed(CallOptions options, Metadata headers, Status status) {
    if (!options.getStreamTracerFactories().isEmpty()) {
      final Metadata own = new Metadata();
      own.merge(headers);
      of(options, own).closed(status);
    }
  }

  /**
   * Called before the headers are written: tracers add the headers that the server's tracers read.
   * Exceptions of a tracer are thrown on, as those of a factory are, because there is no call yet.
   */
  void streamCreated(Attributes attributes, Metadata headers) {
    tracers.forEach(tracer -> tracer.streamCreated(attributes, headers));
  }

  void outboundHeaders() {
    tell(tracers, ClientStreamTracer::outboundHeaders);
  }

  void inboundHeaders(Metadata headers) {
    tell(tracers, tracer -> tracer.inboundHeaders(headers));
  }

  void inboundTrailers(Metadata trailers) {
    tell(tracers, tracer -> tracer.inboundTrailers(trailers));
  }
}
