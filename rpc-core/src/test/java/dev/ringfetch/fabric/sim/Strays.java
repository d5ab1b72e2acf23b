package dev.ringfetch.fabric.sim;

import java.util.SplittableRandom;

/** Datagrams that were sent some time ago, by whatever connection, and turn up again. */
final class Strays {
  private static final int KEPT = 256;

  private final byte[][] datagrams = new byte[KEPT][];
  private int kept;

  /** May turn up again. */
  void keep(byte[] datagram) {
    datagrams[kept++ % KEPT] = datagram;
  }

  /** One of those, or the given one while there is none. */
  byte[] draw(SplittableRandom random, byte[] otherwise) {
    return kept == 0 ? otherwise : datagrams[random.nextInt(Math.min(kept, KEPT))];
  }
}
