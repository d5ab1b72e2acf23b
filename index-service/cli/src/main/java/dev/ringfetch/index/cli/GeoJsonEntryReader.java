package dev.ringfetch.index.cli;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import dev.ringfetch.index.client.Box;
import java.io.IOException;
import java.io.InputStream;
import java.util.Set;

/**
 * The reader of GeoJSON: a collection of features, or features one after the other. An entry has
 * the bounding box of a feature's geometry, its key and its value are properties. Without a key
 * among them it is the feature's id, and without a value all properties as JSON.
 *
 * <p>A feature that is no entry is a bad line; text that is no JSON ends the reading.
 */
final class GeoJsonEntryReader implements EntryReader {
  private final String file;
  private final JsonParser parser;
  private final JsonFields properties;

  /** The geometries that there are. */
  private static final Set<String> GEOMETRIES =
      Set.of(
          "Point",
          "MultiPoint",
          "LineString",
          "MultiLineString",
          "Polygon",
          "MultiPolygon",
          "GeometryCollection");

  private boolean inFeatures; // of a collection
  private long count; // of features
  private String type; // of the object that is read
  private String id; // null: none
  private String all; // all properties; null: none
  private String strange; // what a geometry is that is not known; null: none
  private double minX;
  private double minY;
  private double maxX;
  private double maxY;

  GeoJsonEntryReader(String file, InputStream in, Fields fields) throws IOException {
    this.file = file;
    this.parser = JsonFields.JSON.createParser(in);
    this.properties = new JsonFields(fields);
  }

  @Override
  public boolean hasBoxes() {
    return true;
  }

  @Override
  public Line next() throws IOException {
    try {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        final boolean within = inFeatures;
        final long number = line();
        if (within && token == JsonToken.END_ARRAY) {
          inFeatures = false;
          readObject(); // the rest of the collection
        } else if (token == JsonToken.START_OBJECT) {
          readObject();
          if (within || !inFeatures) {
            return feature(number);
          }
        } else {
          parser.skipChildren();
          return bad(number, "no JSON object");
        }
      }
      return null;
    } catch (JsonProcessingException e) {
      throw new CommandFailure(
          ExitCode.FAILED,
          file + ":" + line() + ": no JSON: " + Stdio.oneLine(e.getOriginalMessage()));
    }
  }

  private long line() {
    return parser.currentLocation().getLineNr();
  }

  private Line bad(long number, String problem) {
    count++;
    return Line.bad(number, "feature " + count + ": " + problem);
  }

  /** Reads the members of an object to its end, or to the begin of its features. */
  private void readObject() throws IOException {
    type = null;
    id = null;
    all = null;
    strange = null;
    minX = Double.POSITIVE_INFINITY;
    minY = Double.POSITIVE_INFINITY;
    maxX = Double.NEGATIVE_INFINITY;
    maxY = Double.NEGATIVE_INFINITY;
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      final String name = parser.currentName();
      final JsonToken value = parser.nextToken();
      if (name.equals("features") && value == JsonToken.START_ARRAY && !inFeatures) {
        inFeatures = true;
        return;
      }
      switch (name) {
        case "type" -> type = JsonFields.text(parser);
        case "id" -> id = JsonFields.text(parser);
        case "properties" -> all = JsonFields.text(parser);
        case "geometry" -> readGeometry();
        default -> parser.skipChildren();
      }
    }
  }

  /** Adds all positions of a geometry, or of a collection of them, to the box. */
  private void readGeometry() throws IOException {
    int depth = parser.currentToken().isStructStart() ? 1 : 0;
    while (depth > 0) {
      final JsonToken token = parser.nextToken();
      depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
      if (token == JsonToken.FIELD_NAME && parser.currentName().equals("type")) {
        parser.nextToken();
        final String geometry = JsonFields.text(parser);
        strange = GEOMETRIES.contains(geometry) ? strange : geometry;
      } else if (token == JsonToken.FIELD_NAME
          && !parser.currentName().matches("coordinates|geometries")) {
        parser.nextToken();
        parser.skipChildren();
      } else if (token.isNumeric()) {
        add(parser.getParsingContext().getCurrentIndex(), parser.getDoubleValue());
      }
    }
  }

  /** Adds a coordinate of a position: x is the first one, y the second; others do not count. */
  private void add(int place, double coordinate) {
    if (place == 0) {
      minX = Math.min(minX, coordinate);
      maxX = Math.max(maxX, coordinate);
    } else if (place == 1) {
      minY = Math.min(minY, coordinate);
      maxY = Math.max(maxY, coordinate);
    }
  }

  private Line feature(long number) throws IOException {
    if (!"Feature".equals(type)) {
      return bad(
          number,
          "its type is " + (type == null ? "missing" : Printable.shorten(type)) + ", not Feature");
    }
    if (strange != null) {
      return bad(number, "its geometry is of no type of GeoJSON: " + Printable.shorten(strange));
    }
    if (minX > maxX || minY > maxY) {
      return bad(number, "its geometry has no coordinates");
    }
    try (JsonParser members = JsonFields.JSON.createParser(all == null ? "{}" : all)) {
      members.nextToken();
      properties.read(members);
      properties.defaultKey(id);
      properties.defaultValue(all == null ? "{}" : all);
      final Line line = properties.line(number, new Box(minX, minY, maxX, maxY));
      count++;
      return line;
    } catch (IllegalArgumentException e) {
      return bad(number, e.getMessage());
    }
  }
}
