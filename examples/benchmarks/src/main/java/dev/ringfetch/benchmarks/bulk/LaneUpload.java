package dev.ringfetch.benchmarks.bulk;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/** The sender of bulk through a lane. */
final class LaneUpload implements Upload {
  private static final int LEAST = 2;

  private final LaneKind kind;
  private final LaneControl control;
  private final ByteBuffer memory;
  private long transfers;

  LaneUpload(LaneKind kind, LaneControl control, ByteBuffer memory) {
    this.kind = kind;
    this.control = control;
    this.memory = memory;
  }

  @Override
  public Transfer run(int length, long millis) {
    final byte[] message = Payload.of(length);
    final long lengthNs = TimeUnit.MILLISECONDS.toNanos(millis);
    control.awaitOpen(++transfers);
    final Lane lane = kind.open(memory, length);
    final long startNs = System.nanoTime();
    long messages = 0;
    while (messages < LEAST || System.nanoTime() - startNs < lengthNs) {
      Payload.stamp(message, messages);
      lane.send(message);
      messages++;
    }
    lane.end();
    control.awaitClose(transfers);
    return new Transfer(messages, messages * length, System.nanoTime() - startNs)
        .checked(control.messages(), control.bytes());
  }
}
