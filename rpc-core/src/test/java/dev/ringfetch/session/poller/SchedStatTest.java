package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** How the scheduler's counts are read. */
class SchedStatTest {
  @TempDir Path root;

  private Path group(String directory) throws IOException {
    final Path stat = root.resolve(directory).resolve("cpu.stat");
    Files.createDirectories(stat.getParent());
    return Files.createFile(stat);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void countsOfThisThreadOnlyGrow() {
    final SchedStat before = SchedStat.ofThread();
    assertNotNull(before);
    final SchedStat after = SchedStat.ofThread();
    assertTrue(before.runDelayNs() <= after.runDelayNs());
    assertTrue(before.slices() <= after.slices());
    assertTrue(before.throttled() <= after.throttled());
  }

  @Test
  void groupOfTheUnifiedHierarchy() throws IOException {
    final Path stat = group("system.slice/one.service");
    assertEquals(stat, SchedStat.groupStat("0::/system.slice/one.service\n", root));
  }

  @Test
  void groupOfTheFirstVersionIsThatOfTheScheduler() throws IOException {
    group("cpuset/a");
    final Path stat = group("cpu/b");
    assertEquals(
        stat,
        SchedStat.groupStat("7:cpuset:/a\n4:cpu,cpuacct:/b\n1:name=systemd:/c\n0::/d\n", root));
  }

  @Test
  void containerSeesItsGroupAtTheRoot() throws IOException {
    final Path stat = group("");
    assertEquals(stat, SchedStat.groupStat("0::/docker/1234\n", root));
    assertEquals(stat, SchedStat.groupStat("0::/\n", root));
  }

  @Test
  void processMayHaveNoGroup() {
    assertNull(SchedStat.groupStat("0::/\n", root));
    assertNull(SchedStat.groupStat("3:memory:/\n", root));
  }

  @Test
  void throttledPeriodsAreOfEitherFormat() {
    assertEquals(7, SchedStat.throttled("nr_periods 9\nnr_throttled 7\nthrottled_time 12\n"));
    assertEquals(3, SchedStat.throttled("usage_usec 1\nnr_periods 5\nnr_throttled 3\n"));
    assertEquals(0, SchedStat.throttled("usage_usec 1\nuser_usec 1\n"), "without a quota");
  }
}
