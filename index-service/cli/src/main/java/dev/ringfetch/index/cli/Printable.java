package dev.ringfetch.index.cli;

import java.util.Locale;

/** Texts as a terminal shows them: control characters escaped, and of bounded length. */
final class Printable {
  private static final int SHORT = 40;

  private Printable() {}

  /** The text with escapes for control characters, and for backslashes before them. */
  static String escape(String text) {
    StringBuilder escaped = null;
    for (int i = 0; i < text.length(); i++) {
      final char c = text.charAt(i);
      final boolean control = Character.isISOControl(c);
      if (control && escaped == null) {
        escaped = new StringBuilder(text.length() + 16).append(text, 0, i);
      }
      if (escaped == null) {
        continue;
      }
      if (control) {
        escaped.append(
            switch (c) {
              case '\n' -> "\\n";
              case '\r' -> "\\r";
              case '\t' -> "\\t";
              default -> String.format(Locale.ROOT, "\\x%02x", (int) c);
            });
      } else {
        escaped.append(c);
      }
    }
    return escaped == null ? text : escaped.toString();
  }

  /** The text with at most this many characters; an ellipsis ends a shortened text. */
  static String cut(String text, int width) {
    if (text.codePointCount(0, text.length()) <= width) {
      return text;
    }
    return text.substring(0, text.offsetByCodePoints(0, Math.max(0, width - 1))) + "…";
  }

  /** The begin of a text, for a message about it. */
  static String shorten(String text) {
    return cut(escape(text), SHORT);
  }

  /** A number with separators between its thousands. */
  static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** A number of bytes with a unit. */
  static String bytes(long bytes) {
    if (bytes < 1L << 10) {
      return bytes + " B";
    }
    final String units = "KMGTPE";
    int unit = 0;
    double scaled = bytes / 1024.0;
    while (scaled >= 1024 && unit + 1 < units.length()) {
      scaled /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %ciB", scaled, units.charAt(unit));
  }

  /** A number with its noun, in the singular or plural. */
  static String count(long number, String one, String several) {
    return number(number) + " " + (number == 1 ? one : several);
  }

  /** A number of entries, in words. */
  static String entries(long number) {
    return count(number, "entry", "entries");
  }
}
