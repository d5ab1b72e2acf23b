package dev.ringfetch.call;

import io.grpc.Status;
import io.grpc.StreamTracer;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The tracers of one call, which statistics and traces stand on. Over memory a message is as long
 * on the wire as it is, unless it is compressed: HTTP/2 does not frame it.
 *
 * <p>What a tracer throws is logged, and goes no further: the call and the other tracers go on.
 */
class Tracers {
  private static final System.Logger LOGGER = System.getLogger(Tracers.class.getName());

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
    tell(
        tracers,
        tracer -> {
          tracer.outboundMessage(number);
          tracer.outboundUncompressedSize(length);
          tracer.outboundWireSize(wireLength);
          tracer.outboundMessageSent(number, wireLength, length);
        });
  }

  /** A message of the peer is about to be read. One thread at a time. */
  final void inboundMessage(int length) {
    final int number = inbound++;
    tell(
        tracers,
        tracer -> {
          tracer.inboundMessage(number);
          tracer.inboundWireSize(length);
          tracer.inboundUncompressedSize(length);
          tracer.inboundMessageRead(number, length, length);
        });
  }

  /** As {@link #inboundMessage}, of one whose length will be known when it was read. */
  final void inboundCompressed(int wireLength) {
    final int number = inbound++;
    tell(
        tracers,
        tracer -> {
          tracer.inboundMessage(number);
          tracer.inboundWireSize(wireLength);
          tracer.inboundMessageRead(number, wireLength, -1);
        });
  }

  /** Follows {@link #inboundCompressed}. */
  final void inboundDecompressed(long length) {
    tell(tracers, tracer -> tracer.inboundUncompressedSize(length));
  }

  /** The call has ended; the first end counts. */
  final void closed(Status status) {
    if (closed.compareAndSet(false, true)) {
      tell(tracers, tracer -> tracer.streamClosed(status));
    }
  }

  /** Tells each tracer of what has happened, whatever the others make of it. */
  static <T extends StreamTracer> void tell(List<T> tracers, Consumer<? super T> event) {
    for (final T tracer : tracers) {
      try {
        event.accept(tracer);
      } catch (Throwable t) { // the call must come to its end
        LOGGER.log(System.Logger.Level.WARNING, "a tracer has failed: " + tracer, t);
      }
    }
  }
}
