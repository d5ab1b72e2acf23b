package dev.ringfetch.index.cli;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.google.protobuf.ByteString;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The reader of JSON lines. A line that is no JSON object is a bad line. */
final class JsonEntryReader implements EntryReader {
  private final String file;
  private final InputStream in;
  private final JsonFields object;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private long number;
  private List<String> box; // the fields of boxes; null until the first entry says
  private Line first; // read to learn that; null: none

  JsonEntryReader(String file, InputStream in, Fields fields) {
    this.file = file;
    this.in = new BufferedInputStream(in, 1 << 16);
    this.object = new JsonFields(fields);
    this.box = fields.box().isEmpty() ? null : fields.box();
  }

  @Override
  public boolean hasBoxes() throws IOException {
    if (box == null) {
      first = next();
      box = box == null ? List.of() : box;
    }
    return !box.isEmpty();
  }

  @Override
  public Line next() throws IOException {
    if (first != null) {
      final Line read = first;
      first = null;
      return read;
    }
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
    try (JsonParser parser = JsonFields.JSON.createParser(line.toByteArray())) {
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
    object.read(parser);
    if (parser.nextToken() != null) {
      throw new IllegalArgumentException("more than one JSON object");
    }
    if (box == null) {
      box = object.hasDumpedBox() ? BOX : List.of();
    }
    return object.line(number, box.isEmpty() ? null : object.box(box));
  }
}
