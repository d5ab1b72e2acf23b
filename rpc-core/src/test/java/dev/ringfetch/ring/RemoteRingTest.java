package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimContext.StoreOrder;
import dev.ringfetch.hunt.Rounds;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Frames between two processes with memory of their own come once, in order and whole, whatever a
 * card does. Where a fabric promises enough, the two words of a frame prove that it is whole; where
 * it does not, frames are found that are not, and only by their checksum.
 */
@Timeout(120)
class RemoteRingTest {
  private static final int SEEDS = Rounds.of(30, 5);
  private static final int FRAMES = 300;

  /** Runs rings under so many seeds, and returns how many frames were found torn. */
  private static long run(Supplier<SimContext> options, Consumer<RemoteRing> use)
      throws IOException {
    long first = Long.getLong("ringfetch.seed", 1);
    long torn = 0;
    for (long seed = first; seed < first + SEEDS; seed++) {
      RemoteRing ring = new RemoteRing(seed, options.get());
      use.accept(ring);
      assertFalse(ring.isWrong(), ring::toString);
      torn += ring.torn();
    }
    return torn;
  }

  private static SimContext weak() {
    return new SimContext().storeOrder(StoreOrder.RELEASE);
  }

  @Test
  void framesPlacedInAscendingOrderAreWhole() throws IOException {
    long torn = run(() -> weak().writeOrder(WriteOrder.ASCENDING), ring -> ring.place(FRAMES));
    assertEquals(0, torn, "the two words are not enough");
  }

  /** A seed under which a payload completed an old commit word, when those were not scattered. */
  @Test
  void payloadThatEndsInAnOldCommitWord() throws IOException {
    RemoteRing ring = new RemoteRing(41704764691087L, weak().writeOrder(WriteOrder.ASCENDING));
    ring.place(FRAMES);
    assertFalse(ring.isWrong(), ring::toString);
    assertEquals(0, ring.torn(), ring::toString);
  }

  @Test
  void framesPlacedInNoOrderAreProvedByTheirChecksum() throws IOException {
    long torn = run(() -> weak().writeOrder(WriteOrder.NONE), ring -> ring.place(FRAMES));
    assertTrue(torn > 0, "the two words would be enough");
  }

  @Test
  void framesFetchedWordZeroFirstAreWhole() throws IOException {
    long torn = run(() -> weak().readAtomicity(ReadAtomicity.LINE), ring -> ring.fetch(FRAMES));
    assertEquals(0, torn, "the two words are not enough");
  }

  @Test
  void framesFetchedInNoOrderAreProvedByTheirChecksum() throws IOException {
    long torn = run(() -> weak().readAtomicity(ReadAtomicity.NONE), ring -> ring.fetch(FRAMES));
    assertTrue(torn > 0, "the two words would be enough");
  }

  /**
   * Here no promise is enough: what was fetched and consumed while its publication was under way is
   * placed when its slots already hold parts of later frames.
   */
  @ParameterizedTest
  @CsvSource({"ASCENDING, LINE", "ASCENDING, NONE", "NONE, LINE", "NONE, NONE"})
  void framesPlacedOrFetchedAsTheReaderLikesComeOnce(WriteOrder order, ReadAtomicity atomicity)
      throws IOException {
    long torn =
        run(
            () -> weak().writeOrder(order).readAtomicity(atomicity),
            ring -> ring.alternate(FRAMES));
    assertTrue(torn > 0, "the two words would be enough");
  }
}
