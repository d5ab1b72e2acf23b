package dev.ringfetch.index.cli;

import java.util.Locale;

/** The formats of files of entries. */
enum FileFormat {
  /** Comma-separated values, as RFC 4180 has them. */
  CSV,
  /** One JSON object a line. */
  JSONL,
  /** Features of RFC 7946: entries with boxes. */
  GEOJSON;

  private static final String GZIP = ".gz";

  /** Whether the file name has the extension of compressed files. */
  static boolean isGzip(String name) {
    return name.toLowerCase(Locale.ROOT).endsWith(GZIP);
  }

  /** Whether the file name has the extension of tab-separated files. */
  static boolean isTabbed(String name) {
    return plain(name).endsWith(".tsv");
  }

  private static String plain(String name) {
    final String lower = name.toLowerCase(Locale.ROOT);
    return isGzip(name) ? lower.substring(0, lower.length() - GZIP.length()) : lower;
  }

  /** The format by the extension of a file name; null if it has none that is known. */
  static FileFormat ofName(String name) {
    final String lower = plain(name);
    if (lower.endsWith(".csv") || isTabbed(name)) {
      return CSV;
    }
    if (lower.endsWith(".geojson")) {
      return GEOJSON;
    }
    return lower.endsWith(".jsonl") || lower.endsWith(".ndjson") || lower.endsWith(".json")
        ? JSONL
        : null;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
