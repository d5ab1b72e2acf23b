package dev.ringfetch.benchmarks.bulk;

import java.nio.ByteBuffer;
import java.util.List;

/** The ways to use memory as a lane. */
public enum LaneKind {
  /** Buffers and flags: the most that memory can carry. */
  raw(64 * 1024 * 1024),
  /** Agrona's ring buffer. */
  agrona(1024 * 1024);

  private final int maxMessageLength;

  LaneKind(int maxMessageLength) {
    this.maxMessageLength = maxMessageLength;
  }

  /** Longest message that it is used for, in bytes. */
  public int maxMessageLength() {
    return maxMessageLength;
  }

  /** The JVM flags that it needs. */
  List<String> flags() {
    return switch (this) {
      case raw -> List.of();
      case agrona -> List.of("--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED");
    };
  }

  /** Length of memory that is enough for all messages, in bytes. */
  int length() {
    return length(maxMessageLength);
  }

  /** Length of memory for messages up to some length, in bytes. */
  int length(int messageLength) {
    return switch (this) {
      case raw -> RawLane.length(messageLength);
      case agrona -> AgronaLane.length(messageLength);
    };
  }

  /** One side of a lane for messages of one length. */
  Lane open(ByteBuffer memory, int messageLength) {
    return switch (this) {
      case raw -> new RawLane(memory, messageLength);
      case agrona -> new AgronaLane(memory, messageLength);
    };
  }
}
