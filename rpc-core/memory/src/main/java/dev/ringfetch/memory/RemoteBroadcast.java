package dev.ringfetch.memory;

import dev.ringfetch.rpc.Experimental;

/**
 * A broadcast of an owner. Immutable; safe for use by many threads.
 *
 * @param <T> type of the messages.
 */
@Experimental
public final class RemoteBroadcast<T> {
  private final Memory memory;
  private final String name;
  private final Codec<T> codec;

  RemoteBroadcast(Memory memory, String name, Codec<T> codec) {
    this.memory = memory;
    this.name = name;
    this.codec = codec;
  }

  /** A reader of the messages that are published from now on. */
  public BroadcastReader<T> fromLatest() {
    return new BroadcastReader<>(memory, name, codec);
  }
}
