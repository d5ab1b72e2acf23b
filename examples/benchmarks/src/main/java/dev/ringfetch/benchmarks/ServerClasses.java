package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Rings;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The class path and the flags of an index server's JVM.
 *
 * @param classPath of the JVM
 * @param flags of the JVM
 */
record ServerClasses(String classPath, List<String> flags) {
  /** Those of this JVM. */
  static ServerClasses plain() {
    return new ServerClasses(System.getProperty("java.class.path"), List.of());
  }

  /**
   * Those with an archive of the server's classes, as {@code examples/run index serve} has one; or
   * the plain ones where classes are not in jars, as the JVM archives none of a folder.
   *
   * @param folder for the archive, and for the data of the server that writes it
   */
  static ServerClasses archived(Path folder, Rings rings) throws IOException {
    final String jars =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .filter(element -> element.endsWith(".jar"))
            .collect(Collectors.joining(File.pathSeparator));
    if (!jars.contains("ringfetch-index-server")) {
      return plain();
    }
    final Path archive = folder.resolve("server.jsa");
    final ServerClasses writing =
        new ServerClasses(jars, List.of("-XX:ArchiveClassesAtExit=" + archive, "-Xlog:disable"));
    JournalServer.start(folder.resolve("archived"), "interval", rings, writing).close();
    return Files.exists(archive)
        ? new ServerClasses(jars, List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:disable"))
        : plain();
  }
}
