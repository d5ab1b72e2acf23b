package dev.ringfetch.index.cli;

import java.util.Locale;

/** The formats of files of entries. */
enum FileFormat {
  /** Comma-separated values, as RFC 4180 has them. */
  CSV,
  /** One JSON object a line. */
  JSONL;

  /** The format that a name's ending says; null where it says none. */
  static FileFormat ofName(String name) {
    final String lower = name.toLowerCase(Locale.ROOT);
    if (lower.endsWith(".csv") || lower.endsWith(".tsv")) {
      return CSV;
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
