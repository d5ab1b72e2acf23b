package dev.ringfetch.call;

import io.grpc.Status;
import io.grpc.StreamTracer;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The tracers of one call, which statistics and traces stand on. Over memory a message is as long
 * on the wire as it is, unless it is compressed: HTTP/2 does not frame it.
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
  final void outboundMessage(int wireLength, long length) {
    final int number = outbound++;
    for (final StreamTracer tracer : tracers) {
      tracer.outboundMessage(number);
      tracer.outboundUncompressedSize(length);
      tracer.outboundWireSize(wireLength);
      tracer.outboundMessageSent(number, wireLength, length);
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

  /** As {@link #inboundMessage}, of one whose length will be known when it was read. */
  final void inboundCompressed(int wireLength) {
    final int number = inbound++;
    for (final StreamTracer tracer : tracers) {
      tracer.inboundMessage(number);
      tracer.inboundWireSize(wireLength);
      tracer.inboundMessageRead(number, wireLength, -1);
    }
  }

  /** Follows {@link #inboundCompressed}. */
  final void inboundDecompressed(long length) {
    tracers.forEach(tracer -> tracer.inboundUncompressedSize(length));
  }

  /** The call has ended; the first end counts. */
  final void closed(Status status) {
    if (closed.compareAndSet(false, true)) {
      tracers.forEach(tracer -> tracer.streamClosed(status));
    }
  }
}
