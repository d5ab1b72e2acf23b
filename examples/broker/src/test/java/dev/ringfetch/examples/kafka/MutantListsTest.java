package dev.ringfetch.examples.kafka;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.mutants.Mutants;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The list of mutants names what is in the sources: a change of either side shows at once. */
final class MutantListsTest {
  @Test
  void everyLineOfTheListFitsTheSources() throws IOException {
    assertTrue(Mutants.handwritten(Path.of("")) > 0);
  }
}
