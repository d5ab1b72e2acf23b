package dev.ringfetch.index.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The watch over processes on this machine. */
@Timeout(60)
final class PeerProcessesTest {
  private static final String BOOT = "a boot";

  private final NodeProcess own = PeerProcesses.self().orElseThrow();
  private final Node self = node(1).setProcess(own).build();
  private final PeerProcesses processes = new PeerProcesses(self);
  private final List<Process> children = new ArrayList<>();

  private static Node.Builder node(long id) {
    return Node.newBuilder().setId(id).setIncarnation(10 * id).setBootId(BOOT);
  }

  /** A process that lasts longer than the test, and does nothing. */
  private NodeProcess child() throws IOException {
    final Process child = new ProcessBuilder("sleep", "100").start();
    children.add(child);
    final String stat = Files.readString(Path.of("/proc/" + child.pid() + "/stat"));
    final String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return own.toBuilder()
        .setId((int) child.pid())
        .setStart(Long.parseLong(fields[22 - 3]))
        .build();
  }

  @AfterEach
  void close() {
    processes.close();
    children.forEach(Process::destroyForcibly);
  }

  private List<Node> ended() {
    final List<Node> ended = new ArrayList<>();
    processes.takeEnded(ended::add);
    return ended;
  }

  private Node awaitEnd() throws InterruptedException {
    while (true) {
      final List<Node> ended = ended();
      if (!ended.isEmpty()) {
        assertEquals(1, ended.size());
        return ended.get(0);
      }
      Thread.sleep(1);
    }
  }

  @Test
  void killedProcessHasEndedOnce() throws Exception {
    final Node killed = node(2).setProcess(child()).build();
    final Node living = node(3).setProcess(child()).build();
    processes.watch(killed);
    processes.watch(living);
    processes.watch(killed); // each connection says it
    assertEquals(List.of(), ended());
    children.get(0).destroyForcibly();
    assertEquals(killed, awaitEnd());
    assertTrue(children.get(0).waitFor(30, TimeUnit.SECONDS));
    assertEquals(List.of(), ended());
    processes.watch(killed); // a connection that is late: there is no such process
    assertEquals(List.of(), ended());
  }

  @Test
  void nextProcessOfNodeTakesThePlaceOfTheOneBefore() throws Exception {
    final Node before = node(2).setProcess(child()).build();
    final Node next = before.toBuilder().setIncarnation(21).setProcess(child()).build();
    processes.watch(before);
    processes.watch(next);
    children.get(0).destroyForcibly().waitFor();
    assertEquals(List.of(), ended());
    children.get(1).destroyForcibly();
    assertEquals(next, awaitEnd());
  }

  @Test
  void processThatThisOneDoesNotSeeIsNotWatched() throws Exception {
    final NodeProcess child = child();
    processes.watch(node(2).build());
    processes.watch(node(3).setProcess(child).setBootId("another boot").build());
    processes.watch(
        node(4).setProcess(child.toBuilder().setNamespace(own.getNamespace() + 1)).build());
    processes.watch(node(5).setProcess(child.toBuilder().setStart(child.getStart() + 1)).build());
    processes.watch(node(6).setProcess(child.toBuilder().setId(-1)).build());
    processes.watch(self);
    final Node seen = node(7).setProcess(child).build();
    processes.watch(seen);
    children.get(0).destroyForcibly();
    assertEquals(seen, awaitEnd());
    assertEquals(List.of(), ended());
  }

  @Test
  void nothingIsWatchedOnceClosed() throws Exception {
    processes.watch(node(2).setProcess(child()).build());
    processes.close();
    processes.watch(node(3).setProcess(child()).build());
    for (final Process child : children) {
      child.destroyForcibly().waitFor();
    }
    assertEquals(List.of(), ended());
  }
}
