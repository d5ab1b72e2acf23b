package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ringfetch.benchmarks.PeerRound.Use;
import dev.ringfetch.examples.load.Figures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RoundLogsTest {
  private static final String SETTINGS = "millis=20";

  @TempDir Path directory;

  private final Entry entry = new Entry(Peer.grpc, Load.atRate(1000));
  private final Histogram latencies = new Histogram(3);

  private static PeerRound round(double p50, double bytes) {
    return new PeerRound(
        new Figures(1000, p50, 2 * p50, 4 * p50, 1e6 / p50),
        new Use(0.987, 100 * p50),
        new Use(1.0 / 3, bytes),
        0.07,
        0.02);
  }

  @Test
  void roundsAreReadAsTheyWere() throws IOException {
    final List<PeerRound> rounds = List.of(round(10.5, 7), round(11, Double.NaN));
    final RoundLogs logs = RoundLogs.open(directory.resolve("new"), false, SETTINGS);
    assertEquals(List.of(), logs.rounds(entry));
    for (final PeerRound round : rounds) {
      latencies.recordValue(1234);
      logs.add(entry, round, latencies);
    }
    final RoundLogs again = RoundLogs.open(directory.resolve("new"), true, SETTINGS);
    assertEquals(rounds, again.rounds(entry));
    assertEquals(List.of(), again.rounds(new Entry(Peer.grpc, Load.atRate(10_000))));
  }

  @Test
  void otherToolsReadTheLatencies() throws IOException {
    final RoundLogs logs = RoundLogs.open(directory, false, SETTINGS);
    latencies.setStartTimeStamp(10_000);
    latencies.setEndTimeStamp(12_000);
    latencies.recordValue(1234);
    logs.add(entry, round(1, 1), latencies);
    latencies.recordValue(5678);
    logs.add(entry, round(2, 2), latencies);
    try (HistogramLogReader reader =
        new HistogramLogReader(
            directory.resolve("grpc-netty-tcp_blocking_32_1_1000-per-second.hlog").toFile())) {
      for (int count = 1; count <= 2; count++) {
        final EncodableHistogram read = reader.nextIntervalHistogram();
        assertEquals(10_000, read.getStartTimeStamp());
        assertEquals(12_000, read.getEndTimeStamp());
        assertEquals(count, ((Histogram) read).getTotalCount());
      }
      assertEquals(null, reader.nextIntervalHistogram());
    }
  }

  /** As where the disk was full. */
  @Test
  void whatIsTornIsCutOff() throws IOException {
    final RoundLogs logs = RoundLogs.open(directory, false, SETTINGS);
    final Path log = directory.resolve(entry.fileName() + ".hlog");
    final List<PeerRound> rounds = List.of(round(10, 7), round(11, 8), round(12, 9));
    latencies.recordValue(1234);
    logs.add(entry, rounds.get(0), latencies);
    final byte[] one = Files.readAllBytes(log);
    logs.add(entry, rounds.get(1), latencies);
    final byte[] two = Files.readAllBytes(log);
    for (int length = 0; length <= two.length; length++) {
      Files.write(log, Arrays.copyOf(two, length));
      final RoundLogs again = RoundLogs.open(directory, true, SETTINGS);
      final int whole = length < one.length ? 0 : length < two.length ? 1 : 2;
      assertEquals(rounds.subList(0, whole), again.rounds(entry), "length=" + length);
      again.add(entry, rounds.get(2), latencies);
      try (HistogramLogReader reader = new HistogramLogReader(log.toFile())) {
        for (int i = 0; i <= whole; i++) {
          assertEquals(1, ((Histogram) reader.nextIntervalHistogram()).getTotalCount());
        }
        assertEquals(null, reader.nextIntervalHistogram());
      }
    }
  }

  @Test
  void nothingIsLeftOut() throws IOException {
    final RoundLogs logs = RoundLogs.open(directory, false, SETTINGS);
    logs.add(entry, round(10, 7), latencies);
    final Entry other = new Entry(Peer.grpc, Load.atRate(10_000));
    logs.checkCovered(List.of(entry, other));
    assertThrows(IllegalArgumentException.class, () -> logs.checkCovered(List.of(other)));
  }

  @Test
  void thereAreLogsToGoOnWith() {
    final Path nowhere = directory.resolve("nowhere");
    assertThrows(IllegalArgumentException.class, () -> RoundLogs.open(nowhere, true, SETTINGS));
    assertFalse(Files.exists(nowhere));
  }

  @Test
  void logsOfAnotherRunAreNotTouched() throws IOException {
    RoundLogs.open(directory, false, SETTINGS);
    assertEquals(
        directory + " has logs: --resume goes on with them",
        assertThrows(
                IllegalArgumentException.class, () -> RoundLogs.open(directory, false, SETTINGS))
            .getMessage());
    assertThrows(
        IllegalArgumentException.class, () -> RoundLogs.open(directory, true, "millis=21"));
    RoundLogs.open(directory, true, SETTINGS);
  }
}
