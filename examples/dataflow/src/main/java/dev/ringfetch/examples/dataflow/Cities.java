package dev.ringfetch.examples.dataflow;

import dev.ringfetch.examples.data.City;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The table of cities. */
final class Cities {
  static final String NAME = "cities";
  static final List<Column.Kind> KINDS =
      List.of(
          Column.Kind.TEXT,
          Column.Kind.TEXT,
          Column.Kind.LONG,
          Column.Kind.DOUBLE,
          Column.Kind.DOUBLE);

  private Cities() {}

  /** The cities of a file, see {@link City#read}. */
  static Table read(Path file) throws IOException {
    final List<City> cities = City.read(file);
    return new Table(
        NAME,
        cities.size(),
        List.of(
            Column.ofTexts("name", cities.stream().map(City::name).toList()),
            Column.ofTexts("country", cities.stream().map(City::country).toList()),
            Column.ofLongs("population", cities.stream().map(City::population).toList()),
            Column.ofDoubles("longitude", cities.stream().map(City::longitude).toList()),
            Column.ofDoubles("latitude", cities.stream().map(City::latitude).toList())));
  }
}
