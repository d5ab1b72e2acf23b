package dev.ringfetch.examples.quickstart;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** A part of a border: an arc of a topology in TopoJSON, or one that is made up. Immutable. */
final class MapArc {
  private static final JsonFactory JSON = new JsonFactory();
  private static final int MADE_UP = 10_000;
  private static final int MADE_UP_POINTS = 20;

  private final double[] xs; // longitudes
  private final double[] ys; // latitudes

  private MapArc(int points) {
    xs = new double[points];
    ys = new double[points];
  }

  /** The longitudes of its points. */
  double[] xs() {
    return xs.clone();
  }

  /** The latitudes of its points. */
  double[] ys() {
    return ys.clone();
  }

  /** The box around it. */
  Box box() {
    return new Box(
        Arrays.stream(xs).min().orElseThrow(),
        Arrays.stream(ys).min().orElseThrow(),
        Arrays.stream(xs).max().orElseThrow(),
        Arrays.stream(ys).max().orElseThrow());
  }

  /** The points, as the value of an entry. */
  ByteString value() {
    final ByteBuffer bytes = ByteBuffer.allocate(2 * Double.BYTES * xs.length);
    for (int i = 0; i < xs.length; i++) {
      bytes.putDouble(xs[i]).putDouble(ys[i]);
    }
    return ByteString.copyFrom(bytes.flip());
  }

  /** Reads {@link #value}. */
  static MapArc of(ByteString value) {
    final ByteBuffer bytes = value.asReadOnlyByteBuffer();
    final int count = value.size() / (2 * Double.BYTES);
    final MapArc arc = new MapArc(count);
    for (int i = 0; i < count; i++) {
      arc.xs[i] = bytes.getDouble();
      arc.ys[i] = bytes.getDouble();
    }
    return arc;
  }

  /** Makes arcs up, from a fixed seed. */
  static List<MapArc> madeUp() {
    final Random random = new Random(2);
    final List<MapArc> arcs = new ArrayList<>();
    for (int i = 0; i < MADE_UP; i++) {
      final MapArc arc = new MapArc(MADE_UP_POINTS);
      arc.xs[0] = random.nextDouble() * 340 - 170;
      arc.ys[0] = random.nextDouble() * 160 - 80;
      for (int j = 1; j < MADE_UP_POINTS; j++) {
        arc.xs[j] = arc.xs[j - 1] + random.nextGaussian() / 10;
        arc.ys[j] = arc.ys[j - 1] + random.nextGaussian() / 10;
      }
      arcs.add(arc);
    }
    return arcs;
  }

  /** Reads the arcs of a topology: each point is a difference, in units of its transform. */
  static List<MapArc> read(Path topology) throws IOException {
    final List<List<long[]>> arcs = new ArrayList<>();
    final double[] scale = new double[2];
    final double[] translate = new double[2];
    try (InputStream in = Files.newInputStream(topology);
        JsonParser parser = JSON.createParser(in)) {
      parser.nextToken();
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        final String name = parser.currentName();
        parser.nextToken();
        switch (name) {
          case "arcs" -> readArcs(parser, arcs);
          case "transform" -> {
            while (parser.nextToken() != JsonToken.END_OBJECT) {
              final String field = parser.currentName();
              parser.nextToken();
              readPair(parser, field.equals("scale") ? scale : translate);
            }
          }
          default -> parser.skipChildren();
        }
      }
    }
    return arcs.stream().map(arc -> of(arc, scale, translate)).toList();
  }

  private static void readPair(JsonParser parser, double[] pair) throws IOException {
    for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
      pair[i] = parser.getDoubleValue();
    }
  }

  private static void readArcs(JsonParser parser, List<List<long[]>> arcs) throws IOException {
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      final List<long[]> arc = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        final long[] point = new long[2];
        for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
          point[i] = parser.getLongValue();
        }
        arc.add(point);
      }
      arcs.add(arc);
    }
  }

  private static MapArc of(List<long[]> points, double[] scale, double[] translate) {
    final MapArc arc = new MapArc(points.size());
    long x = 0;
    long y = 0;
    for (int i = 0; i < points.size(); i++) {
      x += points.get(i)[0];
      y += points.get(i)[1];
      arc.xs[i] = x * scale[0] + translate[0];
      arc.ys[i] = y * scale[1] + translate[1];
    }
    return arc;
  }
}
