package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.Flow;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is begun in great numbers and comes to nothing leaves nothing behind: heap, threads, file
 * descriptors and shared memory of server and client, a process each, are where they were.
 */
@Tag("slow")
@Timeout(240)
class ExhaustionTest {
  private static final int LIMIT_S = 60;
  private static final long HEAP_SLACK = 4L * 1024 * 1024;
  private static final int THREAD_SLACK = 4; // the JVM's own compiler and collector come and go

  private static final int CANCELLED = 10_000;
  private static final int SESSIONS = 1_000;
  private static final int FEW_SESSIONS = 200;
  private static final int UNREAD = 500;
  private static final int METADATA = 1_000;

  /** What a stream holds that nobody reads: a window, and what waits before it is full. */
  private static final long UNREAD_LENGTH =
      Flow.WINDOW_LENGTH + Flow.READY_LENGTH + 2L * ExhaustionChild.LENGTH;

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  private SystemChild server;
  private SystemChild client;

  @BeforeEach
  void start() throws Exception {
    server = start("server", "0");
    client = start("client", server.readLine());
    assertEquals("connected", client.readLine());
  }

  private SystemChild start(String role, String port) throws Exception {
    return SystemChild.start(
        List.of(),
        List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        ExhaustionChild.class,
        List.of(role, directory.toString(), port));
  }

  @AfterEach
  void end() {
    client.close();
    server.close();
  }

  private Footprint footprint(SystemChild child) throws Exception {
    return Footprint.parse(child.ask("footprint"));
  }

  private void awaitRest() throws Exception {
    Await.until("the end of all calls", LIMIT_S, () -> server.count("calls") == 0);
    Await.until("the end of the sessions", LIMIT_S, () -> server.count("sessions") == 1);
  }

  /** Does it in small first, for what is made once; then in full, and looks what is left. */
  private void leavesNothing(String order, int few, int many) throws Exception {
    assertEquals("done " + few, client.ask(order + " " + few));
    awaitRest();
    final Footprint serverBefore = footprint(server);
    final Footprint clientBefore = footprint(client);
    final long startNs = System.nanoTime();
    assertEquals("done " + many, client.ask(order + " " + many));
    final long tookMs = Await.millisSince(startNs);
    awaitRest();
    System.out.printf("%s %d: %d ms%n", order, many, tookMs);
    isBack("server", server, serverBefore);
    isBack("client", client, clientBefore);
    assertEquals("done 10", client.ask("cancel 10"), "serves as before");
  }

  private void isBack(String name, SystemChild child, Footprint before) throws Exception {
    final Footprint[] after = new Footprint[1];
    try {
      Await.until(
          name,
          LIMIT_S,
          () -> {
            after[0] = footprint(child);
            return after[0].isBackAt(before, HEAP_SLACK, THREAD_SLACK);
          });
    } finally {
      System.out.printf("  %s before: %s%n  %s after:  %s%n", name, before, name, after[0]);
    }
  }

  @Test
  void callsThatAreCancelledInMidstream() throws Exception {
    leavesNothing("cancel", CANCELLED / 10, CANCELLED);
  }

  @Test
  void sessionsThatAreOpenedAndDropped() throws Exception {
    leavesNothing("sessions", 20, FEW_SESSIONS);
  }

  @Test
  void aThousandSessionsThatAreOpenedAndDropped() throws Exception {
    leavesNothing("sessions", 20, SESSIONS);
  }

  @Test
  void aClientThatNeverReads() throws Exception {
    leavesNothing("unread", 20, UNREAD);
    holdsNoMoreThanWindows("unread", server);
  }

  @Test
  void aHandlerThatNeverReads() throws Exception {
    leavesNothing("unheard", 20, UNREAD);
    holdsNoMoreThanWindows("unheard", client);
  }

  /** Of many streams at once that nobody reads, each is held back by itself. */
  private void holdsNoMoreThanWindows(String order, SystemChild sender) throws Exception {
    final Footprint serverBefore = footprint(server);
    final Footprint clientBefore = footprint(client);
    final long sentBefore = sender.count("sent");
    assertEquals("holding " + UNREAD, client.ask("hold-" + order + " " + UNREAD));
    Await.until(
        "full windows",
        LIMIT_S,
        () -> sender.count("sent") - sentBefore >= UNREAD * (long) Flow.WINDOW_LENGTH);
    final Footprint serverHeld = footprint(server);
    final Footprint clientHeld = footprint(client);
    final long sent = sender.count("sent") - sentBefore;
    System.out.printf(
        "  %d at once: %d KiB sent of each%n  server: %s%n  client: %s%n",
        UNREAD, sent / UNREAD / 1024, serverHeld, clientHeld);
    final long limit = UNREAD * UNREAD_LENGTH;
    assertTrue(sent <= limit, "sent " + sent);
    assertTrue(serverHeld.heap() - serverBefore.heap() <= 2 * limit, serverHeld::toString);
    assertTrue(clientHeld.heap() - clientBefore.heap() <= 2 * limit, clientHeld::toString);
    assertEquals("done " + UNREAD, client.ask("let-go"));
    awaitRest();
    isBack("server", server, serverBefore);
    isBack("client", client, clientBefore);
  }

  @Test
  void metadataAtItsLimitAndOverIt() throws Exception {
    final long limit = client.count("metadata-limit");
    System.out.println("longest value of a header that arrives: " + limit);
    assertTrue(limit > 8192 - 256 && limit <= 8192, "limit " + limit);
    leavesNothing("metadata", 20, METADATA);
  }
}
