package dev.ringfetch.examples.dataflow;

import dev.ringfetch.examples.quickstart.ClassImage;
import java.io.IOException;
import java.util.List;

/** The classes of the running JDK: name, module, path and size. */
final class Classes {
  static final String NAME = "classes";
  static final List<Column.Kind> KINDS =
      List.of(Column.Kind.TEXT, Column.Kind.TEXT, Column.Kind.TEXT, Column.Kind.LONG);

  private Classes() {}

  /** Reads the JDK's image. */
  static Table read() throws IOException {
    final List<ClassImage.Location> classes = ClassImage.read(Integer.MAX_VALUE);
    final List<String[]> values =
        classes.stream().map(location -> location.value().toStringUtf8().split(" ", 0)).toList();
    return new Table(
        NAME,
        classes.size(),
        List.of(
            Column.ofTexts(
                "name", classes.stream().map(location -> location.key().toStringUtf8()).toList()),
            Column.ofTexts("module", values.stream().map(words -> words[0]).toList()),
            Column.ofTexts("path", values.stream().map(words -> words[1]).toList()),
            Column.ofLongs("size", values.stream().map(words -> Long.valueOf(words[2])).toList())));
  }
}
