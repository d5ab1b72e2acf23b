package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class MarksTest {
  @Test
  void roundsThatOthersHadAPartOfAreCounted() {
    final Marks marks = new Marks();
    assertEquals("figure", marks.count(new Costed<>("figure", 0.9, 0.8, 0.1, 0.2)).value());
    marks.count(new Costed<>("figure", 0.9, 0.8, 0.11, 0));
    marks.count(new Costed<>("figure", 0.9, 0.8, 0, 0));
    assertEquals(
        "marked, as others had more than a tenth of the machine, or peers at rest more than a fifth"
            + " of a processor: 1 of 3 rounds",
        marks.line());
  }

  @Test
  void peersAtRestAreNotToSpinOnMachinesOfManyProcessorsEither() {
    assertTrue(Marks.isMarked(1.0 / 64, 1));
  }

  @Test
  void aTenthIsNotMarkedYet() {
    assertFalse(Marks.isMarked(0.1, 0.2));
    assertTrue(Marks.isMarked(0.101, 0));
  }
}
