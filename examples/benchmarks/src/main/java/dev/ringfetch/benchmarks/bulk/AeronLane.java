package dev.ringfetch.benchmarks.bulk;

import io.aeron.Aeron;
import io.aeron.FragmentAssembler;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A stream of Aeron in shared memory, as one process sees it: either its publication or its
 * subscription. Waiting threads spin.
 */
final class AeronLane implements Lane {
  /** Stream of the messages from the client. */
  static final int REQUESTS = 1;

  /** Stream of the messages to the client. */
  static final int ANSWERS = 2;

  private static final String CHANNEL = Aeron.Context.IPC_CHANNEL;

  /** Marks the end by its length, which no other message has. */
  private static final byte[] LAST = new byte[1];

  private static final int NOTHING = 0;

  private final Publication publication;
  private final Subscription subscription;
  private final UnsafeBuffer outbound = new UnsafeBuffer(LAST);
  private final FragmentHandler handler = new FragmentAssembler(this::take);
  private byte[] inbound;
  private int length;

  private AeronLane(Publication publication, Subscription subscription) {
    this.publication = publication;
    this.subscription = subscription;
  }

  /** The side that sends; no other process sends into the stream. */
  static AeronLane sending(Aeron aeron, int stream) {
    return new AeronLane(aeron.addExclusivePublication(CHANNEL, stream), null);
  }

  /** The side that receives. */
  static AeronLane receiving(Aeron aeron, int stream) {
    return new AeronLane(null, aeron.addSubscription(CHANNEL, stream));
  }

  /** Waits for the other side. */
  @Override
  public void prepare() {
    final Waiting waiting = new Waiting();
    while (publication == null ? !subscription.isConnected() : !publication.isConnected()) {
      waiting.pause();
    }
  }

  @Override
  public void send(byte[] message) {
    if (outbound.byteArray() != message) {
      outbound.wrap(message);
    }
    long position = publication.offer(outbound, 0, message.length);
    if (position < 0) {
      final Waiting waiting = new Waiting();
      while ((position = publication.offer(outbound, 0, message.length)) < 0) {
        if (position == Publication.CLOSED || position == Publication.MAX_POSITION_EXCEEDED) {
          throw new IllegalStateException("the publication has ended: " + position);
        }
        waiting.pause();
      }
    }
  }

  @Override
  public void end() {
    send(LAST);
  }

  @Override
  public int receive(byte[] target) {
    inbound = target;
    length = NOTHING;
    if (!poll()) {
      final Waiting waiting = new Waiting();
      while (!poll()) {
        waiting.pause();
      }
    }
    return length == LAST.length ? END : length;
  }

  /** Takes in a fragment; whether a message is whole. */
  private boolean poll() {
    final int unused = subscription.poll(handler, 1);
    return length != NOTHING;
  }

  private void take(DirectBuffer buffer, int offset, int messageLength, Object header) {
    buffer.getBytes(offset, inbound, 0, messageLength);
    length = messageLength;
  }
}
