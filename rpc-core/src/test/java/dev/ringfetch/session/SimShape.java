package dev.ringfetch.session;

import java.util.SplittableRandom;

/** How much a simulated stream sends, in either direction. */
enum SimShape {
  /** Some messages, either way. */
  SOME(false, false),
  /** The client sends more than a window holds. */
  FLOOD_UP(true, false),
  /** The server sends more than a window holds. */
  FLOOD_DOWN(false, true),
  /** Both do. */
  FLOOD_BOTH(true, true);

  private static final int FLOOD_LENGTH = Flow.WINDOW_LENGTH + Flow.WINDOW_LENGTH / 2;

  final boolean up;
  final boolean down;

  SimShape(boolean up, boolean down) {
    this.up = up;
    this.down = down;
  }

  /** Mostly some messages; a flood where it is short work for the rings. */
  static SimShape draw(SplittableRandom random, SimSizes sizes) {
    if (random.nextInt(8 + 16 * 1024 / sizes.ringLength()) != 0) {
      return SOME;
    }
    return drawFlood(random);
  }

  /** One that sends more than a window holds. */
  static SimShape drawFlood(SplittableRandom random) {
    return switch (random.nextInt(3)) {
      case 0 -> FLOOD_UP;
      case 1 -> FLOOD_DOWN;
      default -> FLOOD_BOTH;
    };
  }

  /** Lengths of the messages of a direction, in bytes. */
  static int[] lengths(SplittableRandom random, SimSizes sizes, boolean flood) {
    if (!flood) {
      final int[] lengths = new int[random.nextInt(random.nextInt(4) == 0 ? 30 : 8)];
      for (int i = 0; i < lengths.length; i++) {
        lengths[i] = sizes.drawLength(random);
      }
      return lengths;
    }
    final int max = sizes.maxFrameLength();
    final int[] lengths = new int[2 * FLOOD_LENGTH / (max + 128) + 1];
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = random.nextInt(max);
    }
    if (random.nextInt(8) == 0 && sizes.takesLongMessages()) { // its window grows
      lengths[0] = Flow.WINDOW_LENGTH / 4 + random.nextInt(Flow.WINDOW_LENGTH / 2);
    }
    return lengths;
  }
}
