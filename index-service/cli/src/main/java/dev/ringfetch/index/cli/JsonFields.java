package dev.ringfetch.index.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.protobuf.ByteString;
import dev.ringfetch.index.cli.EntryReader.Fields;
import dev.ringfetch.index.cli.EntryReader.Line;
import dev.ringfetch.index.client.Box;
import java.io.IOException;
import java.io.StringWriter;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The fields of an entry in an object of JSON. A string stands for its text, a number or a boolean
 * for its characters in the file, an object or an array for its JSON. Used by one thread.
 */
final class JsonFields {
  static final JsonFactory JSON = new JsonFactory();

  private static final String KEY = "key";
  private static final String VALUE = "value";

  private final Fields fields;
  private final String keyName;
  private final String valueName;
  private final boolean dumped; // true if a dump may have written the file
  private final Set<String> wanted = new HashSet<>();
  private final Map<String, String> texts = new HashMap<>(); // null for null

  JsonFields(Fields fields) {
    this.fields = fields;
    this.keyName = fields.key() == null ? KEY : fields.key();
    this.valueName = fields.value() == null ? VALUE : fields.value();
    this.dumped = keyName.equals(KEY) && valueName.equals(VALUE);
    wanted.addAll(fields.box());
    for (final String name : List.of(keyName, valueName)) {
      wanted.add(name);
      wanted.add(name + EntryReader.BASE64_SUFFIX);
    }
    if (dumped) {
      wanted.add(EntryReader.DEADLINE);
      wanted.addAll(EntryReader.BOX);
    }
  }

  /** Reads the fields of an object, which the parser has begun, up to its end. */
  void read(JsonParser parser) throws IOException {
    texts.clear();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      final String name = parser.currentName();
      parser.nextToken();
      if (wanted.contains(name)) {
        texts.put(name, text(parser));
      } else {
        parser.skipChildren();
      }
    }
  }

  /** The text of a value; null for null. */
  static String text(JsonParser parser) throws IOException {
    final JsonToken token = parser.currentToken();
    if (token == JsonToken.VALUE_NULL) {
      return null;
    }
    if (!token.isStructStart()) {
      return parser.getText();
    }
    final StringWriter text = new StringWriter();
    try (JsonGenerator generator = JSON.createGenerator(text)) {
      generator.copyCurrentStructure(parser);
    }
    return text.toString();
  }

  /** Sets the key of an object that has none. */
  void defaultKey(String text) {
    if (text != null && fields.key() == null && isMissing(keyName)) {
      texts.put(keyName, text);
    }
  }

  /** Sets the value of an object that has none. */
  void defaultValue(String text) {
    if (fields.value() == null && isMissing(valueName)) {
      texts.put(valueName, text);
    }
  }

  private boolean isMissing(String name) {
    return !texts.containsKey(name) && !texts.containsKey(name + EntryReader.BASE64_SUFFIX);
  }

  /** Whether the object has the corners of a box as a dump writes them. */
  boolean hasDumpedBox() {
    return dumped && texts.keySet().containsAll(EntryReader.BOX);
  }

  /**
   * The box of the object.
   *
   * @param names of the fields with its corners.
   */
  Box box(List<String> names) {
    return Coordinates.box(
        names.stream().mapToDouble(name -> Coordinates.number(required(name, "--box"))).toArray());
  }

  /**
   * The entry of the object.
   *
   * @param box null if it has none.
   * @throws IllegalArgumentException if it is no entry.
   */
  Line line(long number, Box box) {
    final ByteString key = data(keyName, "--key", fields.keyType());
    final ByteString value = data(valueName, "--value", fields.valueType());
    final Optional<Instant> deadline =
        dumped && texts.containsKey(EntryReader.DEADLINE)
            ? EntryReader.deadline(required(EntryReader.DEADLINE, ""))
            : Optional.empty();
    return Line.of(number, key, box == null ? value : Coordinates.located(box, value), deadline);
  }

  private ByteString data(String name, String option, DataType type) {
    final String base64 = name + EntryReader.BASE64_SUFFIX;
    return texts.containsKey(base64)
        ? EntryReader.base64(base64, required(base64, option))
        : type.parse(required(name, option));
  }

  private String required(String name, String option) {
    if (!texts.containsKey(name)) {
      throw new IllegalArgumentException("no field '" + name + "'; " + option + " names another");
    }
    final String text = texts.get(name);
    if (text == null) {
      throw new IllegalArgumentException("field '" + name + "' is null");
    }
    return text;
  }
}
