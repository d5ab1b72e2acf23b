package dev.ringfetch.index.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Packs fields, and lets two processes change places. */
final class LayoutTest {
  private final Layout layout = new Layout(4);
  private final int number = layout.number(3);
  private final int process = layout.process();
  private final int set = layout.set();
  private final int[] each = new int[30];

  LayoutTest() {
    for (int field = 0; field < each.length; field++) {
      each[field] = layout.each(field % 7);
    }
  }

  @Test
  void fieldsDoNotOverlap() {
    final long[] state = new long[layout.words()];
    for (int field = 0; field < each.length; field++) {
      for (int of = 0; of < 4; of++) {
        layout.set(state, each[field] + of, value(field, of));
      }
    }
    layout.set(state, number, 7);
    layout.set(state, process, 2);
    layout.set(state, set, 0b1010);
    for (int field = 0; field < each.length; field++) {
      for (int of = 0; of < 4; of++) {
        assertEquals(value(field, of), layout.get(state, each[field] + of));
      }
    }
    assertEquals(7, layout.get(state, number));
    assertEquals(2, layout.get(state, process));
    assertEquals(0b1010, layout.get(state, set));
  }

  private static int value(int field, int process) {
    return (field * 5 + process * 11) & (1 << field % 7) - 1;
  }

  @Test
  void valueOfTooManyBitsIsRefused() {
    final long[] state = new long[layout.words()];
    final IllegalArgumentException thrown =
        assertThrows(IllegalArgumentException.class, () -> layout.set(state, number, 8));
    assertTrue(thrown.getMessage().contains("value=8"));
  }

  @Test
  void processesChangePlaces() {
    final long[] state = new long[layout.words()];
    final long[] swapped = new long[layout.words()];
    layout.set(state, number, 2);
    layout.set(state, process, 2);
    layout.set(state, set, 0b0101);
    layout.set(state, each[2] + 2, 3);
    layout.set(state, each[2] + 3, 1);
    layout.swap(state, 2, 3, swapped);
    assertEquals(2, layout.get(swapped, number));
    assertEquals(3, layout.get(swapped, process));
    assertEquals(0b1001, layout.get(swapped, set));
    assertEquals(1, layout.get(swapped, each[2] + 2));
    assertEquals(3, layout.get(swapped, each[2] + 3));
    final long[] again = new long[layout.words()];
    layout.swap(swapped, 3, 2, again);
    assertArrayEquals(state, again);
  }
}
