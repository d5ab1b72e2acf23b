package dev.ringfetch.index.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.v1.Field;
import dev.ringfetch.index.v1.FieldComparison;
import dev.ringfetch.index.v1.Filter;
import org.junit.jupiter.api.Test;

final class StepSinkTest {
  private static final int VALUE = 400 << 10;

  private final byte[] entry = new byte[1 + VALUE];
  private int taken;
  private int passed;
  private final EntrySink receiver =
      new EntrySink() {
        @Override
        public boolean take(
            byte[] array, int key, int keyLength, int valueLength, long version, long deadline) {
          taken++;
          return true;
        }

        @Override
        public boolean passes() {
          passed++;
          return true;
        }
      };

  private boolean take(EntrySink sink) {
    return sink.take(entry, 0, 1, VALUE, 1, 0);
  }

  private int takesUntilTheEnd(EntrySink sink) {
    int takes = 1;
    while (take(sink)) {
      takes++;
    }
    return takes;
  }

  /** Long values end a step, whether they are wanted or not. */
  @Test
  void stepIsBoundedByBytes() {
    final Filter nothing =
        Filter.newBuilder()
            .setComparison(
                FieldComparison.newBuilder()
                    .setField(Field.newBuilder().setSource(Field.Source.KEY))
                    .setBytes(ByteString.copyFromUtf8("no")))
            .build();
    final StepSink refusing = new StepSink(new EntryFilter(nothing), receiver);
    assertEquals(3, takesUntilTheEnd(refusing));
    assertEquals(3, passed);
    refusing.begin();
    assertTrue(take(refusing));
    final StepSink accepting = new StepSink(null, receiver);
    assertEquals(3, takesUntilTheEnd(accepting));
    assertEquals(3, taken);
  }
}
