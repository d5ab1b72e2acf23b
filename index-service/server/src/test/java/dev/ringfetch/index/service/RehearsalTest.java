package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The rehearsal gets as far as it is to. */
final class RehearsalTest {
  @Test
  void anIndexIsLedAndWritten() throws Exception {
    assertTrue(Rehearsal.run());
  }
}
