package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OutboundLineTest {
  private static final int STEPS = 20_000;
  private static final int STREAMS = 7;

  private final OutboundLine line = new OutboundLine();

  @Test
  void isTheLineThatADequeIs() {
    final long seed = Long.getLong("ringfetch.seed", 1);
    System.out.println("outbound line: seed=" + seed);
    final Random random = new Random(seed);
    final Deque<Stream> model = new ArrayDeque<>();
    final List<Stream> out =
        new ArrayList<>(Collections.nCopies(STREAMS, null).stream().map(i -> stream()).toList());
    for (int i = 0; i < STEPS; i++) {
      if (!out.isEmpty() && random.nextBoolean()) {
        final Stream added = out.remove(random.nextInt(out.size()));
        line.add(added);
        model.addLast(added);
      } else if (!model.isEmpty()) {
        final Stream taken =
            random.nextBoolean()
                ? line.first()
                : new ArrayList<>(model).get(random.nextInt(model.size()));
        line.remove(taken);
        assertTrue(model.remove(taken), "seed=" + seed);
        out.add(taken);
      }
      assertSame(model.peekFirst(), line.first(), "seed=" + seed);
      assertEquals(model.size(), line.length(), "seed=" + seed);
      assertEquals(model.isEmpty(), line.isEmpty(), "seed=" + seed);
    }
    while (!model.isEmpty()) {
      assertSame(model.removeFirst(), line.first(), "seed=" + seed);
      line.remove(line.first());
    }
    assertNull(line.first());
  }

  @Test
  void nobodyStandsInItTwice() {
    final Stream only = stream();
    line.add(only);
    assertThrows(AssertionError.class, () -> line.add(only));
    line.add(stream());
    assertThrows(AssertionError.class, () -> line.add(only));
  }

  private static Stream stream() {
    return ServerStream.substitute();
  }
}
