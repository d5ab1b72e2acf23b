package dev.ringfetch.examples.greeter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The difference that the example shows is the one that its sources have. */
class TwoLinesTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/ringfetch/examples/greeter");

  @Test
  void theSourcesHaveWhatTheDifferenceAdds() throws IOException {
    String source = "";
    for (final String line : Greeter.difference().lines().collect(Collectors.toList())) {
      if (line.endsWith(".java")) {
        source = Files.readString(SOURCES.resolve(line));
      } else if (line.startsWith("+")) {
        assertTrue(source.contains(line.substring(1) + "\n"), line);
      }
    }
  }

  @Test
  void takingItBackLeavesNothingOfTheFramework() throws IOException {
    final List<String> files = List.of("GreeterServer.java", "GreeterClient.java");
    for (final String file : files) {
      final String section = Greeter.difference().split(file + "\n", 2)[1].split("\n\n", 2)[0];
      String source = Files.readString(SOURCES.resolve(file));
      final List<String> lines = section.lines().collect(Collectors.toList());
      assertEquals(4, lines.size(), "an import and a line each way");
      for (int i = 0; i < lines.size(); i += 2) {
        source = source.replace(lines.get(i + 1).substring(1), lines.get(i).substring(1));
      }
      assertFalse(source.contains("dev.ringfetch.rpc"), source);
      assertFalse(source.matches("(?s).*\\bRing[A-Z]\\w*Builder.*"), source);
    }
  }

  @Test
  void theServiceKnowsNothingOfTheFramework() throws IOException {
    final String source = Files.readString(SOURCES.resolve("GreeterService.java"));
    assertFalse(source.contains("dev.ringfetch.rpc"), source);
  }
}
