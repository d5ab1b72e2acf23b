package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

final class LoadTest {
  private static final List<Integer> PAYLOADS = List.of(32, 1024);
  private static final List<Integer> DEPTHS = List.of(16, 64);

  @Test
  void whatBlocksGoesByLengthWhatDoesNotByDepth() {
    assertEquals(
        List.of(new Load(Mode.blocking, 32, 1), new Load(Mode.blocking, 1024, 1)),
        Load.of(Mode.blocking, PAYLOADS, DEPTHS, false));
    assertEquals(
        List.of(new Load(Mode.async, 32, 16), new Load(Mode.async, 32, 64)),
        Load.of(Mode.async, PAYLOADS, DEPTHS, false));
    assertEquals(
        List.of(
            new Load(Mode.standard, 32, 1),
            new Load(Mode.standard, 32, 16),
            new Load(Mode.standard, 32, 64)),
        Load.of(Mode.standard, PAYLOADS, DEPTHS, false));
  }

  @Test
  void whatHasNoStubGoesByLengthAndByDepth() {
    for (final Mode mode : List.of(Mode.ring, Mode.lean, Mode.direct)) {
      assertEquals(
          List.of(
              new Load(mode, 32, 1),
              new Load(mode, 1024, 1),
              new Load(mode, 32, 16),
              new Load(mode, 32, 64)),
          Load.of(mode, PAYLOADS, DEPTHS, false));
    }
  }

  @Test
  void inFullEachLengthGoesAtEachDepthButBulkOnlyAtFew() {
    final List<Integer> payloads = List.of(32, 65536);
    assertEquals(
        List.of(
            new Load(Mode.async, 32, 1),
            new Load(Mode.async, 65536, 1),
            new Load(Mode.async, 32, 16),
            new Load(Mode.async, 32, 64),
            new Load(Mode.async, 65536, 16)),
        Load.of(Mode.async, payloads, DEPTHS, true));
    assertEquals(
        Load.of(Mode.blocking, payloads, DEPTHS, false),
        Load.of(Mode.blocking, payloads, DEPTHS, true));
  }

  @Test
  void onlyStubsHaveModesOfStubsAndOnlyTheRingItsOwn() {
    for (final Mode mode : Mode.values()) {
      assertEquals(mode != Mode.direct, Peer.ringfetch.takes(mode));
      assertEquals(
          mode != Mode.direct && mode != Mode.ring && mode != Mode.lean, Peer.unix.takes(mode));
      assertEquals(mode == Mode.direct, Peer.aeron.takes(mode));
    }
  }

  @Test
  void memoryAloneHasOneMessage() {
    assertTrue(Peer.raw.takes(new Load(Mode.direct, 32, 1)));
    assertFalse(Peer.raw.takes(new Load(Mode.direct, 32, 16)));
    assertTrue(Peer.agrona.takes(new Load(Mode.direct, 32, 16)));
    assertFalse(Peer.agrona.takes(new Load(Mode.async, 32, 16)));
  }

  @Test
  void executorsHaveProcessesOfTheirOwn() {
    final Entry blocking = new Entry(Peer.grpc, new Load(Mode.blocking, 32, 1));
    final Entry async = new Entry(Peer.grpc, new Load(Mode.async, 32, 64));
    final Entry standard = new Entry(Peer.grpc, new Load(Mode.standard, 32, 1));
    assertEquals(blocking.entrant(), async.entrant());
    assertFalse(blocking.entrant().equals(standard.entrant()));
  }

  @Test
  void furtherLoadsOfAModeAreWarmedUpForAQuarter() {
    final List<Entry> entries =
        List.of(
            new Entry(Peer.raw, new Load(Mode.direct, 32, 1)),
            new Entry(Peer.grpc, new Load(Mode.async, 32, 16)),
            new Entry(Peer.grpc, new Load(Mode.async, 32, 64)),
            new Entry(Peer.grpc, new Load(Mode.standard, 32, 1)));
    final Timing timing = new Timing(5, 2000, 20_000);
    assertEquals(
        List.of(1_500, 20_000, 5_000, 20_000), List.copyOf(timing.warmUps(entries).values()));
    assertEquals(
        "4 rows x 5 rounds x 2.0 s = 0.7 minutes, after 0.8 minutes of warm-up",
        timing.describe(4, timing.warmUps(entries), entry -> 5));
    assertEquals(
        "6 rows x 5 rounds x 2.0 s = 1.0 minutes, 0.1 of them left, after 0.8 minutes of warm-up",
        timing.describe(6, timing.warmUps(entries), entry -> 1));
  }
}
