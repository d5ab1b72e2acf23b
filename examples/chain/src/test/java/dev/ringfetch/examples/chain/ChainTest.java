package dev.ringfetch.examples.chain;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The demo itself checks answers, deadline, cancellation, trace and transports. */
@Tag("slow")
@Timeout(240)
final class ChainTest {
  @TempDir private Path directory;

  @Test
  void everyAnswerIsRightAndThePictureHasALineForEachLoad() throws Exception {
    final Path plot = directory.resolve("chain.svg");
    assertEquals(
        CommandLine.ExitCode.OK,
        new CommandLine(new Chain())
            .execute(
                "--rounds=1",
                "--millis=300",
                "--warm-up=300",
                "--percent=0,100",
                "--plot=" + plot));
    assertEquals(
        2, // a dot for each side; there is none where no call is made
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(plot.toFile())
            .getElementsByTagName("circle")
            .getLength(),
        Files.readString(plot));
  }
}
