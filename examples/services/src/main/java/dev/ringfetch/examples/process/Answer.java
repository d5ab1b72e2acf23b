package dev.ringfetch.examples.process;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** The answer of a child process: fields with names, on one line. */
public final class Answer {
  private static final String SEPARATOR = "\t";

  private final Map<String, String> fields = new LinkedHashMap<>();

  /** Adds a field. Tabs and line ends in its value become blanks. */
  public Answer with(String name, Object value) {
    fields.put(name, String.valueOf(value).replaceAll("\\s", " "));
    return this;
  }

  /** Reads what {@link #toString} wrote. */
  public static Answer parse(String line) {
    final Answer answer = new Answer();
    for (final String field : line.split(SEPARATOR, 0)) {
      final int equals = field.indexOf('=');
      if (equals > 0) {
        answer.fields.put(field.substring(0, equals), field.substring(equals + 1));
      }
    }
    return answer;
  }

  /** Every field, in the order of the answer. */
  public Map<String, String> fields() {
    return Map.copyOf(fields);
  }

  /** True if there is a field of that name. */
  public boolean has(String name) {
    return fields.containsKey(name);
  }

  /** The text of a field. */
  public String text(String name) {
    final String value = fields.get(name);
    if (value == null) {
      throw new IllegalArgumentException("no field " + name + " in: " + this);
    }
    return value;
  }

  /** A field that counts something. */
  public long count(String name) {
    return Long.parseLong(text(name));
  }

  /** A field that measures something. */
  public double figure(String name) {
    return Double.parseDouble(text(name));
  }

  @Override
  public String toString() {
    return fields.entrySet().stream()
        .map(field -> field.getKey() + "=" + field.getValue())
        .collect(Collectors.joining(SEPARATOR));
  }
}
