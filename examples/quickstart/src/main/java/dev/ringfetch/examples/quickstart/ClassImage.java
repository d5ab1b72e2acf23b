package dev.ringfetch.examples.quickstart;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The classes of the running JDK: for each the module, the place in the image, the size. */
public final class ClassImage {
  private static final String SUFFIX = ".class";

  private ClassImage() {}

  /**
   * An identifier and where its data is.
   *
   * @param key name of the class.
   * @param value module, path within the image, and size in bytes, with blanks between.
   */
  public record Location(ByteString key, ByteString value) {}

  /**
   * All classes, or a given number from all over the image, in one order: every process that reads
   * the image gets the same list.
   */
  public static List<Location> read(int limit) throws IOException {
    final FileSystem image = FileSystems.getFileSystem(URI.create("jrt:/"));
    final Path modules = image.getPath("/modules");
    try (Stream<Path> files = Files.walk(modules)) {
      final List<Path> classes =
          files
              .filter(file -> file.toString().endsWith(SUFFIX))
              .sorted()
              .collect(Collectors.toList());
      final List<Location> locations = new ArrayList<>(classes.size());
      final int step = 1 + (classes.size() - 1) / limit;
      for (int i = 0; i < classes.size(); i += step) {
        final Path file = classes.get(i);
        locations.add(location(modules.relativize(file), Files.size(file)));
      }
      return locations;
    }
  }

  private static Location location(Path file, long size) {
    final String module = file.getName(0).toString();
    final String path = file.subpath(1, file.getNameCount()).toString();
    final String name = path.substring(0, path.length() - SUFFIX.length()).replace('/', '.');
    return new Location(
        // Every module has one of these; all other names are of one class.
        ByteString.copyFromUtf8(name.equals("module-info") ? module + "/" + name : name),
        ByteString.copyFromUtf8(module + " /" + module + "/" + path + " " + size));
  }
}
