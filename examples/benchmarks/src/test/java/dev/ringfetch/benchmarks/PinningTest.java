package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class PinningTest {
  @Test
  void coresAreReadAsLinuxWritesThem() {
    assertEquals(List.of(0, 1, 2, 3, 8), Pinning.cores("0-3,8"));
    assertEquals(List.of(5), Pinning.cores("5"));
    assertEquals(List.of(), Pinning.cores(""));
  }

  @Test
  void halvesHaveNoCoreInCommon() {
    final Pinning odd = Pinning.halves(List.of(0, 1, 4));
    assertEquals(List.of(0), odd.clients());
    assertEquals(List.of(1, 4), odd.servers());
    assertEquals(
        "once warm, clients on core 0, servers on core 1,4, by taskset; what is one process on all",
        odd.describe());
    assertEquals("none: fewer than two cores", Pinning.halves(List.of(3)).describe());
  }

  @Test
  void allThreadsOfBothProcessesArePinned() throws IOException {
    final Pinning pinning = Pinning.ofMachine();
    assumeTrue(pinning.obstacle() == null, pinning::describe);
    try (PeerContender peer = Peer.raw.start(Setup.bare, List.of())) {
      assertNotEquals(Set.of(pinning.clients()), cores(peer.client().pid()));
      assertTrue(pinning.pin(peer));
      assertEquals(Set.of(pinning.clients()), cores(peer.client().pid()));
      assertEquals(Set.of(pinning.servers()), cores(peer.server().pid()));
    }
  }

  /** Which cores threads of a process may use. */
  private static Set<List<Integer>> cores(long pid) throws IOException {
    final Set<List<Integer>> cores =
        new TreeSet<>((left, right) -> left.toString().compareTo(right.toString()));
    try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (final Path task : tasks.collect(Collectors.toList())) {
        try {
          Files.readAllLines(task.resolve("status")).stream()
              .filter(line -> line.startsWith("Cpus_allowed_list:"))
              .map(line -> Pinning.cores(line.substring(line.indexOf(':') + 1).strip()))
              .forEach(cores::add);
        } catch (NoSuchFileException e) {
          // It has ended.
        }
      }
    }
    return cores;
  }
}
