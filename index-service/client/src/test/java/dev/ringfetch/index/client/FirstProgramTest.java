package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the first program of the documentation. */
final class FirstProgramTest {
  private static final String PRINTED =
      "Optional[1815-12-10T00:00:00Z]\nada 1\n".replace("\n", System.lineSeparator());

  @TempDir Path directory;

  /** Runs an action, and returns what it printed. */
  private static String printed(Action action) throws Exception {
    final PrintStream before = System.out;
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    try {
      action.run();
    } finally {
      System.setOut(before);
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  private interface Action {
    void run() throws Exception;
  }

  @Test
  void itPrintsWhatItReads() throws Exception {
    try (TestServer server = TestServer.start(directory)) {
      assertEquals(PRINTED, printed(() -> FirstProgram.main(new String[] {server.target()})));
    }
  }

  @Test
  void itIsWhatTheDocumentationShows() throws Exception {
    final Path source =
        Path.of("src/test/java", FirstProgram.class.getName().replace('.', '/') + ".java");
    final List<String> lines = Files.readAllLines(source);
    assertTrue(lines.size() <= 30, source::toString);
    final List<String> body =
        lines.stream()
            .dropWhile(line -> !line.contains("void main("))
            .skip(2) // the address is an argument
            .map(String::strip)
            .filter(line -> line.length() > 1)
            .toList();
    final String page =
        Files.readString(Path.of("../../docs/index.md"))
            .replaceAll(" +// .*", "")
            .replaceAll("\\s+", " ");
    for (final String statement : String.join(" ", body).split("(?<=[;{]) ", -1)) {
      assertTrue(page.contains(statement), statement);
    }
  }

  /** An application without Micrometer has none of its classes. */
  @Test
  void itNeedsNoMicrometer() throws Exception {
    final URL[] without =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("micrometer"))
            .map(FirstProgramTest::url)
            .toArray(URL[]::new);
    try (TestServer server = TestServer.start(directory);
        URLClassLoader loader = new URLClassLoader(without, ClassLoader.getPlatformClassLoader())) {
      assertThrows(
          ClassNotFoundException.class,
          () -> loader.loadClass("io.micrometer.core.instrument.MeterRegistry"));
      final var main =
          loader.loadClass(FirstProgram.class.getName()).getMethod("main", String[].class);
      final Object arguments = new String[] {server.target()};
      final Thread thread = Thread.currentThread();
      final ClassLoader before = thread.getContextClassLoader();
      thread.setContextClassLoader(loader); // services are found through it
      try {
        assertEquals(PRINTED, printed(() -> main.invoke(null, arguments)));
        assertEquals(
            loader,
            loader.loadClass(IndexClient.class.getName()).getClassLoader(),
            "the client of that class path");
        // As a framework looks at it.
        for (final String name : new String[] {"IndexClient", "IndexClientBuilder", "HashIndex"}) {
          assertTrue(
              loader.loadClass(IndexClient.class.getPackageName() + "." + name).getMethods().length
                  > 0);
        }
      } catch (InvocationTargetException e) {
        throw new AssertionError(e.getCause());
      } finally {
        thread.setContextClassLoader(before);
      }
    }
  }

  private static URL url(String entry) {
    try {
      return new File(entry).toURI().toURL();
    } catch (MalformedURLException e) {
      throw new AssertionError(e);
    }
  }
}
