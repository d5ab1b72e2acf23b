package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connected and idle: costs nothing. */
class IdleTest {
  private static final int IDLE_S = 10;
  private static final int MAX_SWITCHES = 20;
  private static final int MAX_TICKS = IDLE_S; // of 10 ms: one per cent of a core

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @Test
  @Tag("slow")
  void connectedPeersSleep() throws Exception {
    try (SystemChild server = SystemChild.server(directory, 0)) {
      final int port = Integer.parseInt(server.readLine());
      try (SystemChild client = SystemChild.caller(directory, port)) {
        assertEquals("connected", client.readLine());
        for (int i = 0; i < 1_000; i++) {
          assertEquals("OK", client.ask("call"));
        }
        assertTrue(client.count("ring") >= 1_000, "ring calls");
        settle(server, client);
        final List<Cost> before = List.of(Cost.of(server), Cost.of(client));
        final long startNs = System.nanoTime();
        Await.until("the time", 2 * IDLE_S, () -> Await.millisSince(startNs) > IDLE_S * 1_000L);
        final List<Cost> after = List.of(Cost.of(server), Cost.of(client));
        for (int i = 0; i < 2; i++) {
          final long ticks = after.get(i).ticks() - before.get(i).ticks();
          final long switches = after.get(i).switches() - before.get(i).switches();
          final String who = i == 0 ? "server" : "client";
          System.out.printf(
              "idle %s: %d ms of CPU and %d context switches of Ringfetch's threads in %d s%n",
              who, 10 * ticks, switches, IDLE_S);
          assertTrue(ticks < MAX_TICKS, who + ": ticks=" + ticks);
          assertTrue(switches < MAX_SWITCHES, who + ": switches=" + switches);
        }
        assertEquals("OK", client.ask("call"));
        assertEquals(1, server.count("sessions"));
      }
    }
  }

  /** Until neither process has used any CPU for half a second: compilers have finished. */
  private static void settle(SystemChild server, SystemChild client) throws Exception {
    final long[] last = {-1, 0};
    Await.until(
        "quiet",
        30,
        () -> {
          final long ticks = Cost.of(server).ticks() + Cost.of(client).ticks();
          if (ticks != last[0]) {
            last[0] = ticks;
            last[1] = System.nanoTime();
          }
          return Await.millisSince(last[1]) > 500;
        });
  }
}
