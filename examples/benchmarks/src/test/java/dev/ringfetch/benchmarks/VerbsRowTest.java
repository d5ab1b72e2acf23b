package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.verbs.VerbsRound;
import dev.ringfetch.examples.verbs.WorkRequests;
import java.util.List;
import org.junit.jupiter.api.Test;

final class VerbsRowTest {
  private static Costed<VerbsRound> costed(VerbsRound round) {
    return new Costed<>(round, 0.5, 0.25, 0, 0);
  }

  private static VerbsRow row(VerbsPeer peer, double p50) {
    return VerbsRow.of(
        peer,
        List.of(
            costed(VerbsRound.without(new Figures(10, p50, 2 * p50, 4 * p50, 1_000_000 / p50)))));
  }

  @Test
  void roundsBecomeMediansAndSums() {
    final VerbsRow row =
        VerbsRow.of(
            VerbsPeer.fetch,
            List.of(fetched(100, 70, 300, 0), fetched(100, 90, 500, 2), fetched(100, 80, 100, 0)));
    assertEquals(
        "RESULT peer=verbs mode=fetch over=verbs payload=32 inflight=1 p50_us=80.00 p99_us=300.00"
            + " p999_us=600.00 calls_s=5000 cpu_client=0.50 cpu_server=0.25 client_writes=1 client_reads=1.1000 client_sends=0 client_control=0 client_signaled=0"
            + " server_writes=0 server_reads=0 server_sends=0 server_control=0 server_signaled=0",
        row.result());
    assertEquals(VerbsRow.head().indexOf("client W"), row.line().indexOf("1/1.1000/0 +0 !0"));
    assertEquals(VerbsRow.head().indexOf("cores c/s"), row.line().indexOf("0.50/0.25"));
    assertTrue(row.line().contains("80.00 [70.00 .. 90.00]"), row::line);
    assertTrue(row.line().endsWith("0/0/0 +0 !0  (2 torn READs)"), row::line);
  }

  private static Costed<VerbsRound> fetched(long calls, double p50, double p99, long torn) {
    return costed(
        new VerbsRound(
            new Figures(calls, p50, p99, 2 * p99, 5000),
            new WorkRequests(calls, calls + calls / 10, 0, 0, 0),
            WorkRequests.NONE,
            torn));
  }

  @Test
  void peersWithoutWorkRequestsTellOfNone() {
    final VerbsRow row = row(VerbsPeer.grpc, 100);
    assertTrue(row.line().endsWith("-                            -"), row::line);
    assertFalse(row.result().contains("writes"), row::result);
  }

  @Test
  void memoryTellsWhetherBothSidesRan() {
    assertTrue(row(VerbsPeer.raw, 4000).alternates());
    assertFalse(row(VerbsPeer.raw, 4).alternates());
    assertFalse(row(VerbsPeer.grpc, 4000).alternates());
  }

  @Test
  void whatIsAddedNeedsItsFloor() {
    final VerbsRow ring = row(VerbsPeer.ring, 30);
    final AddedTime alone = new AddedTime(List.of(ring, row(VerbsPeer.fetch, 80)));
    assertEquals(List.of(), alone.lines());
    assertEquals("", alone.fields(ring));
    final AddedTime both = new AddedTime(List.of(row(VerbsPeer.raw, 10), ring));
    assertEquals(
        List.of("ringfetch blocking over shm: 20.00 us above raw polling, 3.0 times as long"),
        both.lines());
    assertEquals(" added_us=20.00 floor_ratio=3.00", both.fields(ring));
  }

  @Test
  void whatIsAddedOverVerbsIsComparedWithShmAndWithOthers() {
    final VerbsRow ring = row(VerbsPeer.ringFetch, 120);
    final AddedTime added =
        new AddedTime(
            List.of(
                row(VerbsPeer.raw, 10),
                row(VerbsPeer.ring, 30),
                row(VerbsPeer.fetch, 90),
                ring,
                row(VerbsPeer.darpc, 240),
                row(VerbsPeer.grpc, 1200)));
    assertEquals(
        "ringfetch fetch over verbs: 30.00 us above verbs fetch, 1.3 times as long; 1.50 times what"
            + " it adds in shm; darpc takes 2.0 times as long; grpc-netty-tcp takes 10.0 times as"
            + " long",
        added.lines().get(1));
    assertEquals(
        " added_us=30.00 floor_ratio=1.33 added_to_shm=1.50 darpc_ratio=2.00 grpc_ratio=10.00",
        added.fields(ring));
  }

  @Test
  void bytesAreComparedWithBytes() {
    final VerbsRow bytes = row(VerbsPeer.bytesPush, 60);
    final AddedTime added =
        new AddedTime(
            List.of(
                row(VerbsPeer.raw, 10),
                row(VerbsPeer.ring, 30),
                row(VerbsPeer.bytes, 15),
                row(VerbsPeer.push, 50),
                bytes,
                row(VerbsPeer.darpc, 90),
                row(VerbsPeer.grpc, 1200)));
    assertEquals(
        " added_us=10.00 floor_ratio=1.20 added_to_shm=2.00 darpc_ratio=1.50", added.fields(bytes));
  }
}
