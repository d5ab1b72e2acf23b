package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.benchmarks.PeerRound.Use;
import dev.ringfetch.examples.load.Figures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
  private final List<String> told = new ArrayList<>();

  private static PeerRound round(double p50, double bytes) {
    return new PeerRound(
        new Figures(1000, p50, 2 * p50, 4 * p50, 1e6 / p50),
        new Use(0.987, 100 * p50),
        new Use(1.0 / 3, bytes),
        0.07,
        0.02);
  }

  private RoundLogs open(Path folder, boolean resume, String settings) throws IOException {
    return RoundLogs.open(folder, resume, settings, List.of(entry), told::add);
  }

  @Test
  void roundsAreReadAsTheyWere() throws IOException {
    final List<PeerRound> rounds = List.of(round(10.5, 7), round(11, Double.NaN));
    final RoundLogs logs = open(directory.resolve("new"), false, SETTINGS);
    assertEquals(List.of(), logs.rounds(entry));
    for (final PeerRound round : rounds) {
      latencies.recordValue(1234);
      logs.add(entry, round, latencies);
    }
    logs.close();
    try (RoundLogs again = open(directory.resolve("new"), true, SETTINGS)) {
      assertEquals(rounds, again.rounds(entry));
      assertEquals(List.of(), again.rounds(new Entry(Peer.grpc, Load.atRate(10_000))));
    }
    assertEquals(List.of(), told);
  }

  @Test
  void otherToolsReadTheLatencies() throws IOException {
    final RoundLogs logs = open(directory, false, SETTINGS);
    latencies.setStartTimeStamp(10_000);
    latencies.setEndTimeStamp(12_000);
    latencies.recordValue(1234);
    logs.add(entry, round(1, 1), latencies);
    latencies.recordValue(5678);
    logs.add(entry, round(2, 2), latencies);
    logs.close();
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
    final RoundLogs logs = open(directory, false, SETTINGS);
    final Path log = directory.resolve(entry.fileName() + ".hlog");
    final List<PeerRound> rounds = List.of(round(10, 7), round(11, 8), round(12, 9));
    latencies.recordValue(1234);
    logs.add(entry, rounds.get(0), latencies);
    final byte[] one = Files.readAllBytes(log);
    logs.add(entry, rounds.get(1), latencies);
    final byte[] two = Files.readAllBytes(log);
    logs.close();
    for (int length = 0; length <= two.length; length++) {
      Files.write(log, Arrays.copyOf(two, length));
      final RoundLogs again = open(directory, true, SETTINGS);
      final int whole = length < one.length ? 0 : length < two.length ? 1 : 2;
      assertEquals(rounds.subList(0, whole), again.rounds(entry), "length=" + length);
      again.add(entry, rounds.get(2), latencies);
      again.close();
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
    final Entry other = new Entry(Peer.grpc, Load.atRate(10_000));
    try (RoundLogs logs = open(directory, false, SETTINGS)) {
      logs.add(other, round(10, 7), latencies);
    }
    final Path log = directory.resolve(other.fileName() + ".hlog");
    assertRefused(directory + " has logs of what is not asked for: " + log.getFileName());
    Files.writeString(log, "somebody else's");
    assertRefused(directory + " has logs of what is not asked for: " + log.getFileName());
    assertEquals("somebody else's", Files.readString(log));
  }

  private void assertRefused(String why) {
    assertEquals(
        why,
        assertThrows(IllegalArgumentException.class, () -> open(directory, true, SETTINGS))
            .getMessage());
  }

  @Test
  void twoRunsDoNotWriteOneFolder() throws IOException {
    try (RoundLogs logs = open(directory, false, SETTINGS)) {
      assertRefused(directory + " is in use by a run that goes on");
      logs.add(entry, round(10, 7), latencies);
    }
    try (RoundLogs logs = open(directory, true, SETTINGS)) {
      assertEquals(1, logs.rounds(entry).size());
    }
  }

  @Test
  void whatNobodyCanHaveMeasuredIsRefused() throws IOException {
    try (RoundLogs logs = open(directory, false, SETTINGS)) {
      logs.add(entry, round(10, 7), latencies);
    }
    final Path log = directory.resolve(entry.fileName() + ".hlog");
    final String text = Files.readString(log);
    for (final String p50 : List.of("NaN", "0", "-1", "abc")) {
      Files.writeString(log, text.replaceFirst("p50=[0-9.]+", "p50=" + p50));
      final String message =
          assertThrows(IllegalArgumentException.class, () -> open(directory, true, SETTINGS))
              .getMessage();
      assertTrue(message.startsWith(log + " is damaged: "), message);
    }
    Files.writeString(log, "nothing of a round");
    open(directory, true, SETTINGS).close();
    assertEquals(List.of("without a whole round, begun anew: " + log), told);
    assertFalse(Files.exists(log));
  }

  @Test
  void aFileIsNoFolder() throws IOException {
    final Path file = Files.createFile(directory.resolve("file"));
    assertEquals(
        file + " is no folder",
        assertThrows(IllegalArgumentException.class, () -> open(file, false, SETTINGS))
            .getMessage());
  }

  @Test
  void thereAreLogsToGoOnWith() {
    final Path nowhere = directory.resolve("nowhere");
    assertThrows(IllegalArgumentException.class, () -> open(nowhere, true, SETTINGS));
    assertFalse(Files.exists(nowhere));
  }

  @Test
  void logsOfAnotherRunAreNotTouched() throws IOException {
    open(directory, false, SETTINGS).close();
    assertEquals(
        directory + " has logs: --resume goes on with them",
        assertThrows(IllegalArgumentException.class, () -> open(directory, false, SETTINGS))
            .getMessage());
    assertThrows(IllegalArgumentException.class, () -> open(directory, true, "millis=21"));
    open(directory, true, SETTINGS).close();
  }
}
