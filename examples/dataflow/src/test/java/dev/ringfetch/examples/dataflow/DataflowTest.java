package dev.ringfetch.examples.dataflow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/** The demo itself compares what each way delivers with the tables. */
@Timeout(240)
final class DataflowTest {
  @Test
  void eachWayDeliversTheTables() {
    assertEquals(
        CommandLine.ExitCode.OK,
        new CommandLine(new Dataflow())
            .execute(
                "--made-up",
                "--batch=65536,1048576",
                "--passes=1",
                "--rounds=1",
                "--millis=1",
                "--warm-up=1"));
  }
}
