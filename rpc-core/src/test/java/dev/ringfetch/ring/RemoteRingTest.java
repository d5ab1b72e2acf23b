package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimContext.StoreOrder;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the two words of a frame prove, and what they rest on: with what a fabric does not promise,
 * frames that are not whole are found among those that count.
 */
@Timeout(120)
class RemoteRingTest {
  private static final int SEEDS = Integer.getInteger("ringfetch.seeds", 60);
  private static final int FRAMES = 300;

  /** The first ring of so many that takes a wrong frame, or null. */
  private static RemoteRing firstWrong(
      int seeds, Supplier<SimContext> options, Consumer<RemoteRing> use) throws IOException {
    long first = Long.getLong("ringfetch.seed", System.nanoTime());
    for (long seed = first; seed < first + seeds; seed++) {
      RemoteRing ring = new RemoteRing(seed, options.get());
      use.accept(ring);
      if (ring.isWrong()) {
        return ring;
      }
    }
    return null;
  }

  private static void assertWhole(Supplier<SimContext> options, Consumer<RemoteRing> use)
      throws IOException {
    RemoteRing wrong = firstWrong(SEEDS, options, use);
    assertFalse(wrong != null, () -> "a wrong frame: " + wrong);
  }

  private static SimContext weak() {
    return new SimContext().storeOrder(StoreOrder.RELEASE);
  }

  @Test
  void framesPlacedInAscendingOrderAreWhole() throws IOException {
    assertWhole(() -> weak().writeOrder(WriteOrder.ASCENDING), ring -> ring.place(FRAMES));
  }

  /** A seed under which a payload completed an old commit word, when those were not scattered. */
  @Test
  void payloadThatEndsInAnOldCommitWord() throws IOException {
    RemoteRing ring = new RemoteRing(41704764691087L, weak().writeOrder(WriteOrder.ASCENDING));
    ring.place(FRAMES);
    assertFalse(ring.isWrong(), ring::toString);
  }

  @Test
  void framesPlacedInNoOrderAreNot() throws IOException {
    RemoteRing wrong =
        firstWrong(SEEDS, () -> weak().writeOrder(WriteOrder.NONE), ring -> ring.place(FRAMES));
    assertTrue(wrong != null, "the two words would be enough");
  }

  @Test
  void framesFetchedWordZeroFirstAreWhole() throws IOException {
    assertWhole(() -> weak().readAtomicity(ReadAtomicity.LINE), ring -> ring.fetch(FRAMES));
  }

  @Test
  void framesFetchedInNoOrderAreNot() throws IOException {
    RemoteRing wrong =
        firstWrong(
            SEEDS, () -> weak().readAtomicity(ReadAtomicity.NONE), ring -> ring.fetch(FRAMES));
    assertTrue(wrong != null, "the two words would be enough");
  }
}
