package dev.ringfetch.call;

import io.grpc.Status;
import io.grpc.StreamTracer;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The tracers of one call, the source of statistics and traces. Without HTTP/2 framing, a message
 * is as long on the wire as it is itself, unless it is compressed.
 *
 * <p>Exceptions of a tracer are logged; the call and the other tracers continue.
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

  /** Called when a message of this side is on its way. One thread at a time. */
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

  /** Called before a message of the peer is read. One thread at a time. */
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

  /**
   * As {@link #inboundMessage}, for a compressed message; its length is known only after reading.
   */
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

  /** Called when the call has ended; only the first end counts. */
  final void closed(Status status) {
    if (closed.compareAndSet(false, true)) {
      tell(tracers, tracer -> tracer.streamClosed(status));
    }
  }

  /** Notifies each tracer, even if others throw. */
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
