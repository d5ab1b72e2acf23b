package dev.ringfetch.call;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import java.util.List;

/** Tracers of a client's call. */
final class ClientTracers extends Tracers {
  /** Of a call that none is made for. */
  static final ClientTracers NONE = new ClientTracers(List.of());

  private final List<ClientStreamTracer> tracers;

  private ClientTracers(List<ClientStreamTracer> tracers) {
    super(tracers);
    this.tracers = tracers;
  }

  /** Makes the tracers that the options ask for, which may add to the headers. */
  static ClientTracers of(CallOptions options, Metadata headers) {
    final ClientStreamTracer.StreamInfo info =
        ClientStreamTracer.StreamInfo.newBuilder().setCallOptions(options).build();
    return new ClientTracers(
        options.getStreamTracerFactories().stream()
            .map(factory -> factory.newClientStreamTracer(info, headers))
            .toList());
  }

  /**
   * Before the headers are written: tracers put into them what the server's are to find. What one
   * throws comes out of here, as what a factory throws does: there is no call yet.
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
