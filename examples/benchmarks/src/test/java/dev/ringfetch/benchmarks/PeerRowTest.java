package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.benchmarks.PeerRound.Use;
import dev.ringfetch.examples.load.Figures;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PeerRowTest {
  private static PeerRound round(double p50, double serverBytes, double foreign) {
    return new PeerRound(
        new Figures(1000, p50, 2 * p50, 4 * p50, 1e6 / p50),
        new Use(0.987, 100 * p50),
        new Use(0.5, serverBytes),
        foreign,
        0);
  }

  private static PeerRow row(PeerRound... rounds) {
    return new PeerRow(Peer.grpc, new Load(Mode.async, 32, 64), List.of(rounds));
  }

  @Test
  void roundsBecomeMedians() {
    final PeerRow row = row(round(10, 7, 0), round(30, 8, 0), round(20.5, 9, 0));
    assertEquals(
        "RESULT peer=grpc-netty-tcp mode=async payload=32 inflight=64 p50_us=20.500 p99_us=41.000"
            + " p999_us=82.000 calls_s=48780 cpu_client=0.99 cpu_server=0.50 alloc_client=2050"
            + " alloc_server=8 executors=direct marked=0",
        row.result());
    assertEquals(PeerRow.head().indexOf("p50 us"), row.line().indexOf("20.50 [10.00 .. 30.00]"));
    assertTrue(row.line().endsWith("2,050/8 0 of 3"), row::line);
  }

  @Test
  void bytesThatAreNotKnownAreLeftOut() {
    final PeerRow row = row(round(10, 7, 0), round(10, Double.NaN, 0));
    assertFalse(row.tellsAllocation());
    assertTrue(row.result().endsWith("cpu_server=0.50 executors=direct marked=0"), row::result);
    assertTrue(row.line().endsWith(" - 0 of 2"), row::line);
  }

  @Test
  void roundsWithOthersAreMarked() {
    assertFalse(round(10, 7, 0.1).isMarked());
    assertTrue(round(10, 7, 0.11).isMarked());
    assertEquals(1, row(round(10, 7, 0.05), round(10, 7, 0.5)).marked());
  }

  @Test
  void ofOneProcessThereIsOneFigure() {
    final PeerRow row =
        new PeerRow(
            Peer.inProcess,
            new Load(Mode.standard, 32, 1),
            List.of(
                new PeerRound(new Figures(1000, 1, 2, 3, 1e6), new Use(1.5, 700), Use.NONE, 0, 0)));
    assertTrue(row.line().contains(" 1.50 (1) "), row::line);
    assertTrue(row.line().contains(" 700 (1) "), row::line);
    assertTrue(
        row.result().startsWith("RESULT peer=grpc-inprocess mode=default payload=32 inflight=1 "),
        row::result);
    assertTrue(row.result().contains(" cpu_client=1.50 cpu_server=0.00 "), row::result);
    assertTrue(row.result().endsWith(" executors=default marked=0"), row::result);
  }

  @Test
  void aRateIsToldWhereThereIsOne() {
    final PeerRow row = new PeerRow(Peer.grpc, Load.atRate(1000), List.of(round(10, 7, 0)));
    assertTrue(
        row.result()
            .startsWith("RESULT peer=grpc-netty-tcp mode=blocking payload=32 inflight=1 p50_us="),
        row::result);
    assertTrue(row.result().endsWith(" executors=direct marked=0 rate=1000"), row::result);
    assertEquals(PeerRow.head().indexOf("rate") + "rate".length(), row.line().indexOf(" 10.00"));
  }
}
