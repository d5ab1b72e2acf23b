package dev.ringfetch.examples.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/** The demo in small: nothing is lost, out of order, or counted twice. */
@Tag("slow")
@Timeout(600)
final class BrokerDemoTest {
  @Test
  void leaderProducerAndConsumerAreKilled() {
    assertEquals(0, new CommandLine(new BrokerDemo()).execute("--seconds=12", "--rate=300"));
  }

  @Test
  void nothingIsKilled() {
    assertEquals(
        0, new CommandLine(new BrokerDemo()).execute("--seconds=4", "--rate=300", "--no-kill"));
  }
}
