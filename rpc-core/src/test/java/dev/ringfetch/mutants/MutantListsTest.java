package dev.ringfetch.mutants;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The lists of mutants name what is in the sources: a change of either side shows at once. */
final class MutantListsTest {
  @Test
  void everyLineOfTheListsFitsTheSources() throws Exception {
    final Sources sources = new Sources(Path.of("src/main/java"), Path.of("target/classes"));
    final Known known = Known.read(Path.of("src/test/mutants"), sources);
    assertTrue(known.handwritten() > 0);
    assertTrue(known.mutants().size() > known.handwritten());
  }
}
