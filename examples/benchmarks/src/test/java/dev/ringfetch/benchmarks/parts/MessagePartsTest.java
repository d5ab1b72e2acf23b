package dev.ringfetch.benchmarks.parts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.ring.FrameDescriptor;
import java.io.IOException;
import org.junit.jupiter.api.Test;

final class MessagePartsTest {
  @Test
  void whatIsReadIsWhatWasWritten() throws IOException {
    final MessageParts parts = new MessageParts();
    parts.setUp();
    try {
      for (int i = 0; i < 3; i++) { // again and again into the same unit
        assertEquals(
            parts.requestRead().getSerializedSize(),
            parts.requestWritten() - FrameDescriptor.MESSAGE);
        final GetResponse read = parts.responseRead();
        assertEquals(read.getSerializedSize(), parts.responseWritten() - FrameDescriptor.MESSAGE);
        assertEquals(32, read.getEntry().getValue().size());
        assertEquals(parts.requestRead().getKey(), read.getEntry().getKey());
      }
    } finally {
      parts.tearDown();
    }
  }
}
