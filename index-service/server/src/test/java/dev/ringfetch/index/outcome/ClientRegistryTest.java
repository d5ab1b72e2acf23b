package dev.ringfetch.index.outcome;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Leases by a clock of the test, and what a log is told. */
class ClientRegistryTest {
  private static final Duration TERM = Duration.ofMinutes(30);

  private final List<NumberedClient> opened = new ArrayList<>();
  private long nowNs;

  private static final class Log implements ClientLog {
    final List<Long> clients = new ArrayList<>();
    int room = 10_000;

    @Override
    public boolean opened(long client, long firstIncomplete, Runnable done) {
      if (room-- <= 0) {
        return false;
      }
      clients.add(client);
      done.run();
      return true;
    }

    @Override
    public void closed(long client) {
      assertTrue(clients.remove(client), "closed and not opened");
    }
  }

  private ClientRegistry registry(int limit) {
    return new ClientRegistry(TERM, limit, () -> nowNs);
  }

  @Test
  void aLeaseThatIsOverIsFoundBeforeTheLookForSuchOnes() {
    final ClientRegistry registry = registry(2_000);
    for (int i = 0; i < 1_500; i++) {
      assertEquals(0, registry.open(0, opened::add));
    }
    nowNs += TERM.toNanos() + 1;
    final NumberedClient last = opened.get(1_499); // more come before it than one look takes
    assertNull(registry.find(last.id()));
    assertFalse(last.keeps(1));
    assertTrue(registry.count() < 600, "count=" + registry.count());
  }

  @Test
  void whatIsOverMakesRoomForOthers() {
    final ClientRegistry registry = registry(2);
    registry.open(0, opened::add);
    registry.open(0, opened::add);
    assertEquals(ClientRegistry.TOO_MANY, registry.open(0, opened::add));
    nowNs += TERM.toNanos() / 2 + 1;
    assertSame(opened.get(1), registry.find(opened.get(1).id()));
    nowNs += TERM.toNanos() / 2 + 1;
    assertEquals(0, registry.open(0, opened::add));
    assertNull(registry.find(opened.get(0).id()));
    assertNotNull(registry.find(opened.get(1).id()));
  }

  /** Its first write may come before the thread that opens it goes on. */
  @Test
  void aClientIsThereOnceItsRecordIsDurable() {
    final ClientRegistry registry = registry(2);
    registry.recover(new Log(), List.of());
    assertEquals(0, registry.open(0, client -> assertSame(client, registry.find(client.id()))));
    assertEquals(1, registry.count());
  }

  @Test
  void aLogHasTheClientsThatThereAre() {
    final ClientRegistry registry = registry(100);
    final Log log = new Log();
    registry.recover(log, List.of(new NumberedClient(5, 7)));
    registry.open(0, opened::add);
    registry.open(0, opened::add);
    assertEquals(2, log.clients.size());
    assertTrue(registry.close(opened.get(1).id()));
    assertFalse(registry.close(opened.get(1).id()));
    assertEquals(1, log.clients.size());
    log.room = 0;
    assertEquals(ClientRegistry.LOG_FULL, registry.open(0, opened::add));
    nowNs += TERM.toNanos(); // a full term since the recovery
    assertNotNull(registry.find(5));
    nowNs += 1;
    assertNull(registry.find(opened.get(0).id()));
    assertEquals(List.of(), log.clients);
  }
}
