package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.system.HostilePeer.Manner;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process that misbehaves over sessions of its own, beside one that does not: the latter loses no
 * call and no session, gets no wrong answer, and the server gets rid of what the other has opened.
 */
@Timeout(120)
class HostilePeerTest {
  private static final int SESSIONS = 20;
  private static final int LIMIT_S = 60;
  private static final int CALLS = 500;

  @TempDir(factory = ShmTempDirFactory.class)
  static Path directory;

  // One of each for all: they must live through every manner.
  private static SystemChild server;
  private static SystemChild neighbour;
  private static int port;

  @BeforeAll
  static void start() throws Exception {
    server = SystemChild.serverOf(directory, SESSIONS);
    port = Integer.parseInt(server.readLine());
    neighbour = SystemChild.client(directory, port, 0);
    assertEquals("loaded", neighbour.readLine());
  }

  @AfterEach
  void isAlone() throws Exception {
    Await.until("the end of its sessions", LIMIT_S, () -> server.count("sessions") == 1);
    assertEquals(0, neighbour.count("failures"));
    awaitCalls();
  }

  @AfterAll
  static void stop() {
    neighbour.close();
    server.close();
  }

  private static void awaitCalls() throws Exception {
    final long ring = neighbour.count("ring");
    Await.until("calls", LIMIT_S, () -> neighbour.count("ring") > ring + CALLS);
  }

  @ParameterizedTest
  @EnumSource(names = "CRAFTED")
  void harmsNobodyElse(Manner manner) throws Exception {
    checkHarmless(manner);
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CRAFTED")
  void inOtherMannersHarmsNobodyElse(Manner manner) throws Exception {
    checkHarmless(manner);
  }

  private void checkHarmless(Manner manner) throws Exception {
    final long onGrpc = neighbour.count("grpc");
    try (SystemChild hostile = SystemChild.hostile(directory, port, manner)) {
      final String seed = hostile.readLine();
      final long sessions = hostile.count("sessions");
      Await.until(
          "sessions of the hostile one: " + seed,
          LIMIT_S,
          () -> hostile.count("sessions") >= sessions + 3);
      awaitCalls();
      assertEquals(0, neighbour.count("failures"), seed);
      assertEquals(onGrpc, neighbour.count("grpc"), seed + ": it has lost its ring");
      if (manner == Manner.FLOODING) {
        assertTrue(hostile.count("refusals") > 0, "nothing was refused");
      }
    }
  }

  @Tag("slow")
  @Test
  void newcomerIsServedBesideIt() throws Exception {
    try (SystemChild hostile = SystemChild.hostile(directory, port, Manner.CRAFTED)) {
      hostile.readLine();
      try (SystemChild newcomer = SystemChild.caller(directory, port)) {
        assertEquals("connected", newcomer.readLine());
        assertEquals("OK", newcomer.ask("call"));
      }
    }
  }
}
