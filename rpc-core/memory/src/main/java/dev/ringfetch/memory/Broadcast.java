package dev.ringfetch.memory;

import dev.ringfetch.rpc.Experimental;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;

/**
 * A stream of messages that this process publishes into one ring, and any number of clients read at
 * their own pace. Publishing waits for no reader: one that is slower than a ring's length is told
 * how many messages it has lost.
 *
 * <p>One thread at a time publishes. Closing takes the name back; readers then get NOT_FOUND.
 *
 * @param <T> type of the messages.
 */
@Experimental
public final class Broadcast<T> implements Owned {
  private final Regions regions;
  private final String name;
  private final Codec<T> codec;
  private final int ringLength;
  private final OwnerMemory.Region region;
  private final BroadcastWriter writer;
  private final long number;
  private volatile boolean closed;

  Broadcast(
      Regions regions,
      String name,
      Codec<T> codec,
      int ringLength,
      OwnerMemory.Region region,
      long number) {
    this.regions = regions;
    this.name = name;
    this.codec = codec;
    this.ringLength = ringLength;
    this.region = region;
    this.number = number;
    this.writer = new BroadcastWriter(region.memory(), ringLength);
  }

  /**
   * Publishes a message.
   *
   * @return number of messages so far.
   * @throws IllegalArgumentException if it is longer than {@link #maxMessageLength()}.
   * @throws IllegalStateException after {@link #close()}.
   */
  public long publish(T message) {
    if (closed) {
      throw new IllegalStateException("the broadcast is closed: name=" + name);
    }
    final ByteBuffer buffer = writer.buffer();
    try {
      codec.encode(message, buffer);
    } catch (BufferOverflowException e) {
      throw new IllegalArgumentException(
          "message is too long: name=" + name + " maxMessageLength=" + maxMessageLength(), e);
    }
    writer.write();
    return writer.count();
  }

  /** The longest message in bytes: a quarter of the ring, less the record's header. */
  public int maxMessageLength() {
    return BroadcastDescriptor.maxMessageLength(ringLength);
  }

  String name() {
    return name;
  }

  int ringLength() {
    return ringLength;
  }

  /** Number of this broadcast, larger than that of an earlier one of the same name. */
  long number() {
    return number;
  }

  OwnerMemory.Region region() {
    return region;
  }

  /** Takes the name back, and the memory. No thread may publish any more. Idempotent. */
  @Override
  public void close() {
    if (regions.forget(name, this)) {
      closed = true;
      region.close(writer::close);
    }
  }
}
