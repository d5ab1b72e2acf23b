package dev.ringfetch.benchmarks.bulk;

import java.nio.ByteBuffer;

/** The receiver of a lane: copies messages into one array, checks a few bytes, and counts. */
final class LaneReceiver {
  private final LaneKind kind;
  private final LaneControl control;
  private final ByteBuffer memory;
  private long transfers;

  LaneReceiver(LaneKind kind, LaneControl control, ByteBuffer memory) {
    this.kind = kind;
    this.control = control;
    this.memory = memory;
  }

  /** Takes in one transfer, whose messages have this length. */
  void run(int length) {
    final byte[] target = new byte[length];
    final Lane lane = kind.open(memory, length);
    lane.prepare();
    control.open(++transfers);
    long messages = 0;
    long bytes = 0;
    int received;
    while ((received = lane.receive(target)) != Lane.END) {
      Payload.checkStamped(target, messages);
      messages++;
      bytes += received;
    }
    control.close(transfers, messages, bytes);
  }
}
