package dev.ringfetch.call;

import io.grpc.Status;
import io.grpc.StreamTracer;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The tracers of one call, which statistics and traces stand on. Over memory a message is as long
 * on the wire as it is: it is neither compressed nor framed by HTTP/2.
 */
class Tracers {
  private final List<? extends StreamTracer> tracers;
  private final AtomicBoolean closed = new AtomicBoolean();
  private int outbound;
  private int inbound;

  Tracers(List<? extends StreamTracer> tracers) {
    this.tracers = tracers;
  }

  /** A message of this side is on its way. One thread at a time. */
  final void outboundMessage(int length) {
    final int number = outbound++;
    for (final StreamTracer tracer : tracers) {
      tracer.outboundMessage(number);
      tracer.outboundUncompressedSize(length);
      tracer.outboundWireSize(length);
      tracer.outboundMessageSent(number, length, length);
    }
  }

  /** A message of the peer is about to be read. One thread at a time. */
  final void inboundMessage(int length) {
    final int number = inbound++;
    for (final StreamTracer tracer : tracers) {
      tracer.inboundMessage(number);
      tracer.inboundWireSize(length);
      tracer.inboundUncompressedSize(length);
      tracer.inboundMessageRead(number, length, length);
    }
  }

  /** The call has ended; the first end counts. */
  final void closed(Status status) {
    if (closed.compareAndSet(false, true)) {
      tracers.forEach(tracer -> tracer.streamClosed(status));
    }
  }
}
