package dev.ringfetch.memory;

import com.google.protobuf.ByteString;
import dev.ringfetch.memory.v1.Kind;
import dev.ringfetch.memory.v1.Place;
import dev.ringfetch.memory.v1.PollRequest;
import dev.ringfetch.memory.v1.PollResponse;
import dev.ringfetch.rpc.Experimental;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A reader of a broadcast, at its own pace: each message once, in order, but for those that it is
 * told were lost.
 *
 * <p>Used by one thread at a time.
 *
 * @param <T> type of the messages.
 */
@Experimental
public final class BroadcastReader<T> {
  private final Memory memory;
  private final String name;
  private final Codec<T> codec;
  private final GrantedName grant;
  private final Queue<ByteString> received = new ArrayDeque<>(); // by a call, not yet handed out
  private long owner;
  private long position;
  private long sequence;
  private @Nullable BroadcastCursor cursor; // at the place, of the last grant
  private int capacity;
  private long reads;

  /** Creates a reader behind the latest message. */
  BroadcastReader(Memory memory, String name, Codec<T> codec) {
    this.memory = memory;
    this.name = name;
    this.codec = codec;
    this.grant = new GrantedName(memory, name, Kind.BROADCAST);
    move(memory.stub().poll(PollRequest.newBuilder().setName(name).build()).getNext());
  }

  private void move(Place place) {
    owner = place.getOwner();
    position = place.getPosition();
    sequence = place.getSequence();
    if (cursor != null) {
      cursor.move(position, sequence);
    }
  }

  /**
   * Hands out the messages that have come, as {@link #poll(BroadcastHandler, int)} without limit.
   */
  public int poll(BroadcastHandler<? super T> handler) {
    return poll(handler, Integer.MAX_VALUE);
  }

  /**
   * Hands out messages that have come, at most those of one look: of 64 KiB of the ring, or one
   * message that is longer. Does not wait for messages. From memory, without a call, if the client
   * is attached.
   *
   * @param limit how many at the most.
   * @return how many were handed out.
   * @throws StatusRuntimeException ABORTED after a restart of the owner, or if it has taken the
   *     name anew: messages begin anew then.
   */
  public int poll(BroadcastHandler<? super T> handler, int limit) {
    if (!received.isEmpty()) {
      return handOut(handler, limit);
    }
    final RegionReads granted = grant.reads();
    final long lost = granted == null ? -1 : fill(granted);
    if (lost < 0) {
      return receive(handler, limit);
    }
    if (lost > 0) {
      handler.onLapped(lost);
    }
    final int count = handOutBatch(handler, limit);
    reads += count;
    return count;
  }

  /** Copies the next messages from memory; returns how many were lost, or -1: by a call. */
  private long fill(RegionReads granted) {
    if (grant.owner() != owner) {
      throw Status.ABORTED
          .withDescription(
              "the broadcast is another one: begin again with fromLatest(): name=" + name)
          .asRuntimeException();
    }
    if (cursor == null || capacity != grant.capacity()) {
      capacity = grant.capacity();
      cursor = new BroadcastCursor(capacity);
      cursor.move(position, sequence);
    }
    try {
      final long lost = cursor.fill(granted);
      position = cursor.position();
      sequence = cursor.sequence();
      return lost;
    } catch (LostMemoryException | InternalError e) {
      if (e instanceof InternalError fault) {
        granted.absorb(fault);
      }
      grant.lost("memory was lost");
      cursor.move(position, sequence);
      return -1;
    } catch (MalformedMemoryException e) {
      throw malformed(e);
    }
  }

  private StatusRuntimeException malformed(MalformedMemoryException e) {
    return Status.DATA_LOSS
        .withDescription("broadcast is malformed: name=" + name + " " + e.getMessage())
        .asRuntimeException();
  }

  private int handOutBatch(BroadcastHandler<? super T> handler, int limit) {
    int count = 0;
    try {
      while (count < limit && cursor.next()) {
        count++;
        position = cursor.position();
        sequence = cursor.sequence();
        handler.onMessage(decode(cursor.message()));
      }
      return count;
    } catch (MalformedMemoryException e) {
      throw malformed(e);
    } finally {
      position = cursor.position();
      sequence = cursor.sequence();
    }
  }

  private int receive(BroadcastHandler<? super T> handler, int limit) {
    final PollResponse response =
        memory
            .stub()
            .poll(
                PollRequest.newBuilder()
                    .setName(name)
                    .setPlace(
                        Place.newBuilder()
                            .setOwner(owner)
                            .setPosition(position)
                            .setSequence(sequence))
                    .build());
    move(response.getNext());
    received.addAll(response.getMessagesList());
    if (response.getLost() > 0) {
      handler.onLapped(response.getLost());
    }
    return handOut(handler, limit);
  }

  private int handOut(BroadcastHandler<? super T> handler, int limit) {
    int count = 0;
    ByteString message;
    while (count < limit && (message = received.poll()) != null) {
      count++;
      handler.onMessage(decode(ByteBuffer.wrap(message.toByteArray())));
    }
    return count;
  }

  private T decode(ByteBuffer bytes) {
    final int length = bytes.remaining();
    try {
      return codec.decode(bytes.order(ByteOrder.LITTLE_ENDIAN));
    } catch (RuntimeException e) {
      throw Status.DATA_LOSS
          .withDescription("message cannot be decoded: name=" + name + " length=" + length)
          .withCause(e)
          .asRuntimeException();
    }
  }

  /** How many messages were read from memory, without a call. */
  public long directReads() {
    return reads;
  }

  /** Why reads go by calls; empty if they go by memory. */
  public Optional<String> obstacle() {
    return Optional.ofNullable(grant.obstacle());
  }
}
