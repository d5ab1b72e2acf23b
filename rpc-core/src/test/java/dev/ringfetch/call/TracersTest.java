package dev.ringfetch.call;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.Status;
import io.grpc.StreamTracer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TracersTest {
  private final List<String> told = new ArrayList<>();

  private static final StreamTracer FAILING =
      new StreamTracer() {
        @Override
        public void outboundMessage(int number) {
          throw new IllegalStateException("as the test wants");
        }

        @Override
        public void inboundMessage(int number) {
          throw new AssertionError("as the test wants");
        }

        @Override
        public void inboundUncompressedSize(long bytes) {
          throw new IllegalStateException("as the test wants");
        }

        @Override
        public void streamClosed(Status status) {
          throw new IllegalStateException("as the test wants");
        }
      };

  private final StreamTracer recording =
      new StreamTracer() {
        @Override
        public void outboundMessage(int number) {
          told.add("out " + number);
        }

        @Override
        public void inboundMessage(int number) {
          told.add("in " + number);
        }

        @Override
        public void inboundUncompressedSize(long bytes) {
          told.add("bytes in " + bytes);
        }

        @Override
        public void streamClosed(Status status) {
          told.add("closed " + status.getCode());
        }
      };

  @Test
  void tracerThatThrowsEndsNothingAndKeepsNothingFromTheNext() {
    final Tracers tracers = new Tracers(List.of(FAILING, recording));
    tracers.outboundMessage(1, 1);
    tracers.inboundMessage(2);
    tracers.inboundCompressed(3);
    tracers.inboundDecompressed(4);
    tracers.closed(Status.ABORTED);
    tracers.closed(Status.OK);
    assertEquals(
        List.of("out 0", "in 0", "bytes in 2", "in 1", "bytes in 4", "closed ABORTED"), told);
  }
}
