package dev.ringfetch.ring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The diagram in the Javadoc of a layout, read from its source: boxes under a ruler of 32 bits.
 *
 * @param fields in the order of the diagram.
 * @param source of the whole class.
 */
record RulerDiagram(List<Field> fields, String source) {
  private static final int ROW_BITS = 32;
  private static final int ROW_COLUMNS = 2 * ROW_BITS;

  /**
   * A box of the diagram.
   *
   * @param offset in bytes; of what follows a box of open length, from the end of that box.
   * @param bytes its length, or {@link #OPEN}.
   * @param isAfterOpen true when a box of open length comes before.
   */
  record Field(String name, int offset, int bytes, boolean isAfterOpen) {
    static final int OPEN = -1;

    String constant() {
      return name.toUpperCase(Locale.ROOT).replace(' ', '_');
    }
  }

  static List<String> lines(Class<?> type) throws IOException {
    final List<String> lines = new ArrayList<>();
    boolean within = false;
    for (final String line : source(type).lines().toList()) {
      if (line.contains("</pre>")) {
        return lines;
      }
      if (within) {
        lines.add(line.substring(line.indexOf('*') + 1));
      }
      within |= line.contains("<pre>");
    }
    throw new AssertionError("no diagram in " + type);
  }

  static String source(Class<?> type) throws IOException {
    return Files.readString(
        Path.of(
            System.getProperty("basedir", ""),
            "src/main/java",
            type.getName().replace('.', '/') + ".java"));
  }

  static RulerDiagram parse(Class<?> type) throws IOException {
    final List<String> lines = lines(type);
    final int ruler = ruler(lines);
    final int left = lines.get(ruler).indexOf('0') - 1;
    final List<Field> fields = new ArrayList<>();
    List<String> box = new ArrayList<>();
    int bits = 0;
    boolean afterOpen = false;
    checkSeparator(lines.get(ruler + 1), left);
    for (int i = ruler + 2; i < lines.size(); i++) {
      final String line = lines.get(i);
      if (!line.stripLeading().startsWith("+")) {
        box.add(line);
        continue;
      }
      checkSeparator(line, left);
      if (String.join("", box).contains("...")) {
        check(bits % Byte.SIZE == 0, box);
        fields.add(new Field(openName(box), bits / Byte.SIZE, Field.OPEN, afterOpen));
        afterOpen = true;
        bits = 0;
      } else {
        bits = addClosed(box, left, bits, afterOpen, fields);
      }
      box = new ArrayList<>();
    }
    check(box.isEmpty(), box);
    return new RulerDiagram(fields, source(type));
  }

  private static int addClosed(
      List<String> box, int left, int bits, boolean afterOpen, List<Field> fields) {
    check(!box.isEmpty(), "an empty box");
    int at = bits;
    int start = left;
    final String first = box.get(0);
    check(first.charAt(left) == '|', first);
    while (start < left + ROW_COLUMNS) {
      final int end = first.indexOf('|', start + 1);
      check(end > start && (end - start) % (2 * Byte.SIZE) == 0, first);
      final int fieldBits = (end - start) / 2 * box.size();
      check(box.size() == 1 || end - start == ROW_COLUMNS, first);
      final String name = first.substring(start + 1, end).strip();
      fields.add(new Field(name, at / Byte.SIZE, fieldBits / Byte.SIZE, afterOpen));
      at += fieldBits;
      start = end;
    }
    check(start == left + ROW_COLUMNS, first);
    for (final String more : box.subList(1, box.size())) {
      check(more.substring(left + 1, left + ROW_COLUMNS).isBlank(), more);
      check(more.charAt(left) == '|' && more.charAt(left + ROW_COLUMNS) == '|', more);
    }
    return at;
  }

  private static String openName(List<String> box) {
    final String first = box.get(0);
    check(first.stripTrailing().endsWith("..."), first);
    return first.replace('|', ' ').replace("...", "").strip();
  }

  private static int ruler(List<String> lines) {
    final StringBuilder digits = new StringBuilder();
    for (int i = 0; i < ROW_BITS; i++) {
      digits.append(i % 10).append(' ');
    }
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).strip().equals(digits.toString().strip())) {
        return i;
      }
    }
    throw new AssertionError("no ruler of 32 bits");
  }

  private static void checkSeparator(String line, int left) {
    final String bare = line.stripTrailing();
    check(bare.length() == left + ROW_COLUMNS + 1, line);
    check(bare.substring(0, left).isBlank(), line);
    check(bare.substring(left).matches("\\+[-+]{63}\\+"), line);
    for (int i = left; i < bare.length(); i++) {
      check(bare.charAt(i) != '+' || (i - left) % (2 * Byte.SIZE) == 0, line);
    }
  }

  private static void check(boolean holds, Object where) {
    if (!holds) {
      throw new AssertionError("not a diagram under the ruler: " + where);
    }
  }
}
