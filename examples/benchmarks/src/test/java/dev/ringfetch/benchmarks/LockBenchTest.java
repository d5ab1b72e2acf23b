package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.benchmarks.locks.LockKind;
import dev.ringfetch.benchmarks.stores.NativeServer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

final class LockBenchTest {
  @Tag("slow")
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachRowOfEachLockIsPrintedForScripts() {
    final String printed =
        PrintedBench.run("locks", "--rounds=1", "--millis=50", "--warm-up=50", "--clients=3");
    final boolean hasRedis = NativeServer.find("redis-server").isPresent();
    assertEquals(!hasRedis, printed.contains("left out: redis-server is not installed"));
    for (final LockKind kind : LockKind.values()) {
      for (final String row : List.of("free", "passed")) {
        final String line = "RESULT row=" + row + " lock=" + kind + " ";
        assertEquals(kind != LockKind.redis || hasRedis, printed.contains(line), printed);
      }
    }
    assertTrue(printed.contains("holders beside another one: 0"), printed);
  }
}
