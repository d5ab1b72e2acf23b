package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.PeerRound.Use;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * A folder with a log of HdrHistogram for each row: an interval for each round, latencies in
 * nanoseconds, and behind it a comment with all other results of the round, which {@link #rounds}
 * reads. An interrupted run can be resumed from it.
 */
final class RoundLogs implements AutoCloseable {
  private static final String SUFFIX = ".hlog";
  private static final String ROUND = "[Round] ";
  private static final double MILLIS_PER_SECOND = 1000;
  private static final double AS_IT_IS = 1;

  private final RunFolder folder;

  private RoundLogs(RunFolder folder) {
    this.folder = folder;
  }

  /**
   * Opens a folder, which is created if need be. An incompletely written round at the end of a log
   * is cut off.
   *
   * @param resume whether there are logs in it.
   * @param settings the settings that all rounds must share, in one line.
   * @param entries the only entries of which there may be logs, so that the file of all rounds is
   *     complete.
   * @param told gets the names of logs without a whole round, which are begun anew.
   * @throws IllegalArgumentException if there are logs of other entries, with the reason.
   */
  static RoundLogs open(
      Path path, boolean resume, String settings, Collection<Entry> entries, Consumer<String> told)
      throws IOException {
    final RunFolder folder = RunFolder.open(path, "logs", resume, settings);
    boolean opened = false;
    try {
      final RoundLogs logs = new RoundLogs(folder);
      logs.check(entries, told);
      opened = true;
      return logs;
    } finally {
      if (!opened) {
        folder.close();
      }
    }
  }

  /** Truncates a log after its last whole round; no reader would accept the rest. */
  private static void cutTorn(Path log, Consumer<String> told) throws IOException {
    final String text = Files.readString(log, StandardCharsets.ISO_8859_1); // a byte a character
    final int round = text.lastIndexOf("\n#" + ROUND, text.lastIndexOf('\n') - 1);
    final int end = round < 0 ? 0 : text.indexOf('\n', round + 1) + 1;
    if (end == 0) {
      told.accept("without a whole round, begun anew: " + log);
      Files.delete(log); // it has not even a head, perhaps
    } else if (end < text.length()) {
      RunFolder.truncate(log, end);
    }
  }

  private void check(Collection<Entry> entries, Consumer<String> told) throws IOException {
    final Set<String> names =
        entries.stream().map(entry -> entry.fileName() + SUFFIX).collect(Collectors.toSet());
    try (DirectoryStream<Path> logs = Files.newDirectoryStream(folder.path(), "*" + SUFFIX)) {
      for (final Path log : logs) {
        if (!names.contains(log.getFileName().toString())) {
          throw new IllegalArgumentException(
              folder.path() + " has logs of what is not asked for: " + log.getFileName());
        }
      }
    }
    for (final Entry entry : entries) {
      final Path log = file(entry);
      if (Files.exists(log)) {
        cutTorn(log, told);
        final var unused = rounds(entry); // which refuses those that are damaged
      }
    }
  }

  /** Writes a file with the results of all rounds. */
  void write(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
  }

  private Path file(Entry entry) {
    return folder.resolve(entry.fileName() + SUFFIX);
  }

  /** Adds a round. */
  void add(Entry entry, PeerRound round, Histogram latencies) throws IOException {
    final Path file = file(entry);
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    final HistogramLogWriter writer = new HistogramLogWriter(bytes);
    if (!Files.exists(file)) {
      writer.outputLogFormatVersion();
      writer.outputComment(entry.toString());
      writer.outputLegend();
    }
    writer.outputIntervalHistogram(
        latencies.getStartTimeStamp() / MILLIS_PER_SECOND,
        latencies.getEndTimeStamp() / MILLIS_PER_SECOND,
        latencies,
        AS_IT_IS);
    writer.outputComment(ROUND + text(round));
    writer.close();
    try { // at once, so that a run that is interrupted leaves whole rounds
      Files.write(file, bytes.toByteArray(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new IOException(
          "cannot write " + file + ", up to which --resume goes on: " + e.getMessage(), e);
    }
  }

  /**
   * The rounds of a row that there are.
   *
   * @throws IllegalArgumentException if there is a round with impossible figures.
   */
  List<PeerRound> rounds(Entry entry) throws IOException {
    final List<PeerRound> rounds = new ArrayList<>();
    if (Files.exists(file(entry))) {
      for (final String line : Files.readAllLines(file(entry), StandardCharsets.UTF_8)) {
        if (line.startsWith("#" + ROUND)) {
          rounds.add(parse(file(entry), line.substring(1 + ROUND.length())));
        }
      }
    }
    return rounds;
  }

  private static String text(PeerRound round) {
    return round
        .figures()
        .answer()
        .with("clientCores", round.client().cores())
        .with("clientBytes", round.client().bytesPerCall())
        .with("serverCores", round.server().cores())
        .with("serverBytes", round.server().bytesPerCall())
        .with("foreign", round.foreign())
        .with("resting", round.restingCores())
        .toString();
  }

  private static PeerRound parse(Path log, String text) {
    final PeerRound round;
    try {
      round = parse(Answer.parse(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(log + " is damaged: " + e.getMessage(), e);
    }
    if (!(round.figures().p50Us() > 0 && round.figures().perSecond() > 0)) {
      throw new IllegalArgumentException(log + " is damaged: " + text);
    }
    return round;
  }

  private static PeerRound parse(Answer fields) {
    return new PeerRound(
        Figures.parse(fields),
        new Use(fields.figure("clientCores"), fields.figure("clientBytes")),
        new Use(fields.figure("serverCores"), fields.figure("serverBytes")),
        fields.figure("foreign"),
        fields.figure("resting"));
  }

  @Override
  public void close() throws IOException {
    folder.close();
  }
}
