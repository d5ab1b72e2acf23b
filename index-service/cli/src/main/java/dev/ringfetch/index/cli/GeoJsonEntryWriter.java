package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import java.io.IOException;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/** The writer of GeoJSON: a feature for each entry, a point or the polygon of its box. */
final class GeoJsonEntryWriter implements EntryWriter {
  private final Output out;
  private final TypeOptions types;
  private boolean written; // a feature

  /** Creates it, and begins the collection. */
  GeoJsonEntryWriter(Output out, TypeOptions types) throws IOException {
    this.out = out;
    this.types = types;
    out.writer().write("{\"type\":\"FeatureCollection\",\"features\":[\n");
  }

  @Override
  public void write(ByteString key, ByteString value, Optional<Instant> deadline)
      throws IOException {
    out.writer().write(written ? "," : "");
    written = true;
    out.object()
        .text("type", "Feature")
        .raw("geometry", geometry(Coordinates.box(value)))
        .begin("properties")
        .data("key", types.keyType(), key)
        .data("value", types.valueType(), Coordinates.value(value))
        .time(EntryReader.DEADLINE, deadline)
        .close()
        .end();
  }

  private static String geometry(Box box) {
    final double left = box.minX();
    final double right = box.maxX();
    final double low = box.minY();
    final double high = box.maxY();
    return left == right && low == high
        ? String.format(Locale.ROOT, "{\"type\":\"Point\",\"coordinates\":[%s,%s]}", left, low)
        : String.format(
            Locale.ROOT,
            "{\"type\":\"Polygon\",\"coordinates\":[[[%1$s,%2$s],[%3$s,%2$s],[%3$s,%4$s],"
                + "[%1$s,%4$s],[%1$s,%2$s]]]}",
            left,
            low,
            right,
            high);
  }

  @Override
  public void end() throws IOException {
    out.writer().write("]}\n");
  }
}
