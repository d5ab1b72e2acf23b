package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Answer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The rounds of a run of {@link IndexBench}, in memory and in a file: a line a round, with row,
 * peer and figures. An interrupted run goes on with those that were written whole.
 */
final class IndexLog implements AutoCloseable {
  private static final String ROUNDS = "rounds.log";
  private static final String SEPARATOR = "\t";

  private final RunFolder folder;
  private final Map<String, Map<String, List<Answer>>> rounds = new LinkedHashMap<>();

  private IndexLog(RunFolder folder) {
    this.folder = folder;
  }

  /**
   * Opens a folder, which is created if need be.
   *
   * @param resume whether there are rounds in it.
   * @param settings the settings that all rounds must share, in one line.
   * @throws IllegalArgumentException if the folder does not fit, with the reason.
   */
  static IndexLog open(Path path, boolean resume, String settings) throws IOException {
    final RunFolder folder = RunFolder.open(path, "rounds", resume, settings);
    boolean opened = false;
    try {
      final IndexLog log = new IndexLog(folder);
      log.read();
      opened = true;
      return log;
    } finally {
      if (!opened) {
        folder.close();
      }
    }
  }

  /** Reads what there is; cuts a line off that is not whole. */
  private void read() throws IOException {
    final Path file = folder.resolve(ROUNDS);
    if (!Files.exists(file)) {
      return;
    }
    final String text = Files.readString(file, StandardCharsets.ISO_8859_1); // a byte a character
    final int end = text.lastIndexOf('\n') + 1;
    if (end < text.length()) {
      RunFolder.truncate(file, end);
    }
    text.substring(0, end)
        .lines()
        .forEach(
            line -> {
              final String[] parts = line.split(SEPARATOR, 3);
              if (parts.length != 3) {
                throw new IllegalArgumentException(file + " is damaged: " + line);
              }
              of(parts[0], parts[1]).add(Answer.parse(parts[2]));
            });
  }

  private List<Answer> of(String row, String peer) {
    return rounds
        .computeIfAbsent(row, absent -> new LinkedHashMap<>())
        .computeIfAbsent(peer, absent -> new ArrayList<>());
  }

  /** The rounds of a row and a peer, in their order; none if it was not measured. */
  List<Answer> rounds(IndexRow row, String peer) {
    return List.copyOf(rounds.getOrDefault(row.text(), Map.of()).getOrDefault(peer, List.of()));
  }

  /** The peers that have rounds of a row. */
  List<String> peers(IndexRow row) {
    return List.copyOf(rounds.getOrDefault(row.text(), Map.of()).keySet());
  }

  /** All rounds. */
  List<Answer> all() {
    return rounds.values().stream()
        .flatMap(peers -> peers.values().stream())
        .flatMap(List::stream)
        .toList();
  }

  /** Adds a round, at once, so that a run that is interrupted leaves whole rounds. */
  void add(IndexRow row, String peer, Answer round) throws IOException {
    Files.writeString(
        folder.resolve(ROUNDS),
        String.join(SEPARATOR, row.text(), peer, round.toString()) + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
    of(row.text(), peer).add(round);
  }

  /** Writes a file with the results. */
  void write(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
  }

  @Override
  public void close() throws IOException {
    folder.close();
  }
}
