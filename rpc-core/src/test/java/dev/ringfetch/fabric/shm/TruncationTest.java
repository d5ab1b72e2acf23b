package dev.ringfetch.fabric.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.FabricHarness.Told;
import dev.ringfetch.fabric.QueuePair;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A peer that truncates the file costs its own session and nothing else; never the JVM. */
class TruncationTest {
  @TempDir Path directory;

  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable resource : opened) {
      resource.close();
    }
  }

  private <T extends AutoCloseable> T closeLater(T resource) {
    opened.add(resource);
    return resource;
  }

  private Path crashReport() {
    return directory.resolve("hs_err.log");
  }

  /** What is written on the way down is what tells of a crash: exit codes have other causes too. */
  private ShmChild start(String flag, int warmUp, String task) throws IOException {
    List<String> flags =
        List.of(
            flag,
            "-Xmx64m",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=" + crashReport(),
            "-D" + Truncated.WARM_UP + "=" + warmUp);
    return closeLater(ShmChild.start(flags, directory, task));
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({
    "-XX:+TieredCompilation, 20000",
    "-XX:-TieredCompilation, 20000",
    "-XX:TieredStopAtLevel=1, 5000",
    "-Xint, 100",
    "-XX:+TieredCompilation, 0",
  })
  void everyAccessSurvivesAndVerifyTells(String flag, int warmUp) throws Exception {
    ShmChild child = start(flag, warmUp, "touch-truncated");
    List<String> said = child.readToEnd();
    assertFalse(Files.exists(crashReport()), "the JVM crashed after it said " + said);
    assertEquals(List.of("told", Truncated.SURVIVED), said);
    assertEquals(0, child.exitCode());
  }

  @Test
  void peerThatTruncatesLosesItsOwnSessionOnly() throws Exception {
    ShmChild child = start("-XX:+TieredCompilation", 0, "serve-truncated");
    byte[] truncated = HexFormat.of().parseHex(child.readLine());
    byte[] spared = HexFormat.of().parseHex(child.readLine());
    FabricHarness harness = closeLater(new FabricHarness(openFabric(), openFabric()));
    try (FileChannel file = FileChannel.open(file(truncated), StandardOpenOption.WRITE)) {
      QueuePair client = harness.connect(truncated, ShmChild.TOKEN);
      Told told = new Told();
      client.bind(told);
      client.memory().putLongRelease(0, 5);
      client.ringDoorbell();
      assertEquals("word=5", child.readLine());
      file.truncate(0);
      client.ringDoorbell();
      String said = child.readLine();
      assertFalse(Files.exists(crashReport()), "the JVM crashed");
      assertEquals("taken away", said);
      harness.drive(() -> told.ends.size() == 1);
    }
    QueuePair other = harness.connect(spared, ShmChild.TOKEN);
    other.bind(new Told());
    other.memory().putLongRelease(0, 6);
    other.ringDoorbell();
    assertEquals("word=6", child.readLine());
  }

  private ShmFabric openFabric() throws IOException {
    return (ShmFabric) closeLater(new ShmProvider().open(new FabricContext().directory(directory)));
  }

  /** Where the memory of an offer is, until it is taken. */
  private Path file(byte[] descriptor) throws IOException {
    SessionAddress address = SessionAddress.decode(descriptor);
    Path root = directory.resolve("ringfetch-" + Files.getAttribute(directory, "unix:uid"));
    return address.path(root.resolve(address.process()));
  }
}
