package dev.ringfetch.mutants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the mutants that were written by hand: blocks of {@code key: value} lines with an empty
 * line between. A line that is indented continues the one before.
 */
final class Handwritten {
  private static final Pattern FIELD = Pattern.compile("(id|file|replace|with|suites|why):(.*)");
  private static final String FOLDER = "dev/ringfetch/";

  private Handwritten() {}

  /** Reads the list, and finds each mutant's text in its source. */
  static List<Mutant> read(Path file, Sources sources) throws IOException {
    final List<Mutant> mutants = new ArrayList<>();
    final Map<String, String> block = new HashMap<>();
    String key = null;
    final List<String> lines = new ArrayList<>(Files.readAllLines(file));
    lines.add("");
    for (final String line : lines) {
      if (line.startsWith("#")) {
        continue;
      }
      final Matcher field = FIELD.matcher(line);
      if (line.isBlank()) {
        if (!block.isEmpty()) {
          mutants.add(mutant(block, sources));
          block.clear();
        }
        key = null;
      } else if (field.matches()) {
        key = field.group(1);
        block.put(key, field.group(2).strip());
      } else if (key != null && Character.isWhitespace(line.charAt(0))) {
        block.merge(key, line.strip(), (before, more) -> before + "\n" + more);
      } else {
        throw new IllegalArgumentException(file + ": not understood: " + line);
      }
    }
    return mutants;
  }

  private static Mutant mutant(Map<String, String> block, Sources sources) throws IOException {
    for (final String needed : List.of("id", "file", "replace", "with", "why")) {
      if (!block.containsKey(needed)) {
        throw new IllegalArgumentException(block + " has no " + needed);
      }
    }
    final String id = block.get("id");
    final String path = FOLDER + block.get("file") + ".java";
    final String source = sources.read(path);
    final Matcher found = anySpacing(block.get("replace")).matcher(source);
    if (!found.find()) {
      throw new IllegalArgumentException(id + ": not in " + path + ": " + block.get("replace"));
    }
    final int start = found.start();
    final int end = found.end();
    if (found.find()) {
      throw new IllegalArgumentException(id + ": twice in " + path);
    }
    final String suites = block.getOrDefault("suites", "");
    return new Mutant(
        id,
        path,
        Mutant.lineOf(source, start),
        start,
        end,
        source.substring(start, end),
        block.get("with"),
        suites.isEmpty() ? List.of() : List.of(suites.split("[,\\s]+", -1)));
  }

  /** Matches a text however it is broken into lines. */
  private static Pattern anySpacing(String text) {
    final StringBuilder pattern = new StringBuilder();
    for (final String word : text.strip().split("\\s+", -1)) {
      pattern.append(pattern.isEmpty() ? "" : "\\s+").append(Pattern.quote(word));
    }
    return Pattern.compile(pattern.toString());
  }
}
