package dev.ringfetch.index.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.google.protobuf.ByteString;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;

/**
 * The reader of JSON lines. A string stands for its text, a number or a boolean for its characters
 * in the file, an object or an array for its JSON. A line that is no JSON object is a bad line.
 */
final class JsonEntryReader implements EntryReader {
  private static final JsonFactory JSON = new JsonFactory();

  private final String file;
  private final InputStream in;
  private final Fields fields;
  private final String keyName;
  private final String valueName;
  private final boolean dumped; // true if a dump wrote the file: it has a field for the deadline
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private long number;

  JsonEntryReader(String file, InputStream in, Fields fields) {
    this.file = file;
    this.in = new BufferedInputStream(in, 1 << 16);
    this.fields = fields;
    this.keyName = fields.key() == null ? "key" : fields.key();
    this.valueName = fields.value() == null ? "value" : fields.value();
    this.dumped = keyName.equals("key") && valueName.equals("value");
  }

  @Override
  public Line next() throws IOException {
    while (true) {
      final boolean more = readLine();
      final String text = line.toString(StandardCharsets.ISO_8859_1).strip();
      if (!text.isEmpty()) {
        return entry(text);
      }
      if (!more) {
        return null;
      }
    }
  }

  /** Reads up to the end of a line; false at the end of the input. */
  private boolean readLine() throws IOException {
    line.reset();
    number++;
    for (int c = in.read(); c >= 0; c = in.read()) {
      if (c == '\n') {
        return true;
      }
      if (line.size() <= LINE_MAX) {
        line.write(c);
      }
    }
    return false;
  }

  private Line entry(String begin) throws IOException {
    if (line.size() > LINE_MAX) {
      return Line.bad(number, "the line is longer than " + Printable.bytes(LINE_MAX));
    }
    if (number == 1 && begin.startsWith("[")) {
      throw new CommandFailure(
          ExitCode.FAILED,
          file + ":1: one object a line is read, not an array: jq -c '.[]' makes lines of it");
    }
    if (!ByteString.copyFrom(line.toByteArray()).isValidUtf8()) {
      return Line.bad(number, "no UTF-8");
    }
    try (JsonParser parser = JSON.createParser(line.toByteArray())) {
      return parse(parser);
    } catch (JsonProcessingException e) {
      return Line.bad(number, "no JSON: " + Stdio.oneLine(e.getOriginalMessage()));
    } catch (IllegalArgumentException e) {
      return Line.bad(number, e.getMessage());
    }
  }

  private Line parse(JsonParser parser) throws IOException {
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      throw new IllegalArgumentException("no JSON object");
    }
    ByteString key = null;
    ByteString value = null;
    Optional<Instant> deadline = Optional.empty();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      final String name = parser.currentName();
      parser.nextToken();
      if (name.equals(keyName)) {
        key = data(parser, name, fields.keyType());
      } else if (name.equals(valueName)) {
        value = data(parser, name, fields.valueType());
      } else if (name.equals(keyName + BASE64_SUFFIX)) {
        key = EntryReader.base64(name, text(parser, name));
      } else if (name.equals(valueName + BASE64_SUFFIX)) {
        value = EntryReader.base64(name, text(parser, name));
      } else if (dumped && name.equals(DEADLINE)) {
        deadline = EntryReader.deadline(text(parser, name));
      } else {
        parser.skipChildren();
      }
    }
    if (parser.nextToken() != null) {
      throw new IllegalArgumentException("more than one JSON object");
    }
    if (key == null || value == null) {
      throw new IllegalArgumentException(
          "no field '"
              + (key == null ? keyName : valueName)
              + "'; "
              + (key == null ? "--key" : "--value")
              + " names another");
    }
    return Line.of(number, key, value, deadline);
  }

  private static ByteString data(JsonParser parser, String name, DataType type) throws IOException {
    return type.parse(text(parser, name));
  }

  private static String text(JsonParser parser, String name) throws IOException {
    final JsonToken token = parser.currentToken();
    if (token == JsonToken.VALUE_NULL) {
      throw new IllegalArgumentException("field '" + name + "' is null");
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
}
