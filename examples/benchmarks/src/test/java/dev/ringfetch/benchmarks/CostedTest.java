package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.benchmarks.bulk.EchoPair;
import dev.ringfetch.benchmarks.bulk.LaneKind;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CostedTest {
  private static final int MILLIS = 300;

  /** Both ends of memory alone spin all the time. */
  @Test
  void whatProcessesUseIsTheirsAndNobodyElses() throws IOException {
    try (EchoPair pair = EchoPair.start(LaneKind.raw, List.of())) {
      final ChildProcess client = pair.client();
      final ChildProcess server = pair.server();
      final Costed<Figures> both = Costed.measure(client, server, () -> pair.round(32, MILLIS));
      assertTrue(both.value().calls() > 0, both::toString);
      assertTrue(both.clientCores() > 0.05 && both.serverCores() > 0.05, both::toString);
      assertTrue(both.restingCores() < 0.05, both::toString);

      final Costed<Figures> one = Costed.measure(client, client, () -> pair.round(32, MILLIS));
      assertEquals(0, one.serverCores(), one::toString);
      assertTrue(one.clientCores() > 0.05, one::toString);
      assertTrue(one.foreign() > 0, one::toString); // the server's, which was not measured
      assertTrue(one.restingCores() > 0.05, one::toString);
    }
  }

  @Test
  void whatARoundThrowsIsThrown() throws IOException {
    try (EchoPair pair = EchoPair.start(LaneKind.raw, List.of())) {
      final IOException thrown =
          assertThrows(
              IOException.class,
              () ->
                  Costed.measure(
                      pair.client(),
                      pair.server(),
                      () -> {
                        throw new IOException("of the round");
                      }));
      assertEquals("of the round", thrown.getMessage());
    }
  }
}
