package dev.ringfetch.index;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The configuration file of a server: lines {@code NAME = VALUE}, with the long names of options
 * without the dashes. A line that begins with {@code #} is a comment; a value goes to the end of
 * its line, without the spaces around it.
 */
final class ConfigFile {
  /**
   * A value of the file.
   *
   * @param line where it is, from 1 on
   */
  private record Entry(String value, int line) {}

  private final Path file;
  private final Map<String, Entry> entries = new LinkedHashMap<>(); // by the option's name

  private ConfigFile(Path file) {
    this.file = file;
  }

  /**
   * Reads a file.
   *
   * @param names of options, with the dashes
   * @throws IOException if it cannot be read, or has a line that is wrong; with file, line and
   *     reason in its message
   */
  static ConfigFile read(Path file, Set<String> names) throws IOException {
    final ConfigFile config = new ConfigFile(file);
    final List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (MalformedInputException e) {
      throw new IOException(file + ": not UTF-8", e);
    } catch (IOException e) {
      final String reason = FailureReason.of(e);
      throw new IOException(reason.startsWith(file + ":") ? reason : file + ": " + reason, e);
    }
    for (int i = 0; i < lines.size(); i++) {
      final String line = lines.get(i).strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        final String reason = config.add(line, i + 1, names);
        if (!reason.isEmpty()) {
          throw new IOException(file + ":" + (i + 1) + ": " + reason);
        }
      }
    }
    return config;
  }

  /** Takes a line; returns why not, or an empty text. */
  private String add(String line, int number, Set<String> names) {
    final int equals = line.indexOf('=');
    if (equals < 0) {
      return "not NAME = VALUE: '" + line + "'";
    }
    final String name = line.substring(0, equals).strip();
    final String value = line.substring(equals + 1).strip();
    if (!names.contains("--" + name)) {
      return "there is no option '" + name + "'";
    }
    if (value.isEmpty()) {
      return name + " has no value";
    }
    final Entry before = entries.putIfAbsent("--" + name, new Entry(value, number));
    return before == null ? "" : name + " is set already in line " + before.line();
  }

  /** The value of an option; null if the file does not set it. */
  String value(String option) {
    final Entry entry = entries.get(option);
    return entry == null ? null : entry.value();
  }

  /** Where the file sets an option. */
  String place(String option) {
    return file + ":" + entries.get(option).line();
  }
}
