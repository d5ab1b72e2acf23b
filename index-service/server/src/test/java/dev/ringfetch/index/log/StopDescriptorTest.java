package dev.ringfetch.index.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Member;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The layout of the last record of an orderly stop is that of its diagram. */
final class StopDescriptorTest {
  private static final long NODE = 7;
  private static final List<Member> PROCESSES = List.of(process(41), process(42));

  private static Member process(long incarnation) {
    return Member.newBuilder().setNode(NODE).setIncarnation(incarnation).build();
  }

  @Test
  void wordsStandWhereTheDiagramSays() {
    final ByteBuffer value =
        StopDescriptor.encoded(1000, PROCESSES)
            .asReadOnlyByteBuffer()
            .order(ByteOrder.LITTLE_ENDIAN);
    assertEquals(32, value.remaining());
    assertEquals(1000, value.getLong(0));
    assertEquals(NODE, value.getLong(8));
    assertEquals(41, value.getLong(16));
    assertEquals(42, value.getLong(24));
  }

  @Test
  void aValueCountsAtItsPlaceAndForItsNodeAlone() {
    final ByteString value = StopDescriptor.encoded(1000, PROCESSES);
    assertEquals(PROCESSES, StopDescriptor.processes(value, 1000, NODE));
    assertEquals(List.of(), StopDescriptor.processes(value, 1008, NODE));
    assertEquals(List.of(), StopDescriptor.processes(value, 1000, NODE + 1));
    assertEquals(List.of(), StopDescriptor.processes(value.substring(0, 16), 1000, NODE));
    assertEquals(List.of(), StopDescriptor.processes(value.substring(0, 28), 1000, NODE));
    assertEquals(List.of(), StopDescriptor.processes(ByteString.EMPTY, 0, 0));
  }
}
