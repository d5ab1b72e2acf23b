package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a quota refuses, and when it stops to. */
final class DiskQuotaTest {
  private static final long SECOND_NS = 1_000_000_000;

  private final List<IOException> reasons = new ArrayList<>();
  private long bytes;
  private int looks;
  private long nowNs;
  private final DiskQuota quota =
      new DiskQuota(
          () -> {
            looks++;
            return bytes;
          },
          8_000,
          () -> nowNs,
          reasons::add);

  private void look(long present) throws IOException {
    bytes = present;
    nowNs += SECOND_NS;
    quota.look(nowNs);
  }

  @Test
  void refusesFromTheQuotaOnUntilItIsBelowSevenEighths() throws IOException {
    look(6_999);
    assertFalse(quota.isNear());
    look(7_999);
    assertTrue(quota.isNear());
    assertFalse(quota.isExceeded());
    look(8_000);
    assertTrue(quota.isNear());
    assertTrue(quota.isExceeded());
    look(7_000);
    assertTrue(quota.isExceeded());
    look(6_999);
    assertFalse(quota.isNear());
    assertFalse(quota.isExceeded());
    look(7_000);
    assertFalse(quota.isExceeded());
  }

  @Test
  void saysOnceThatItRefusesWithTheNumbersAndOnceThatThisHasEnded() throws IOException {
    look(8_000);
    look(9_000);
    assertEquals(1, reasons.size());
    assertEquals(SECOND_NS, quota.obstacle().ageNs());
    assertEquals(
        "the data directory exceeds its quota: bytes=9000 --disk-quota=8000; delete entries or drop"
            + " indexes, or raise the quota; puts go on below bytes=7000",
        quota.reason().getMessage());
    look(0);
    assertEquals(2, reasons.size());
    assertNull(reasons.get(1));
    assertNull(quota.reason());
    assertEquals(0, quota.obstacle().ageNs());
  }

  @Test
  void looksOnceASecond() throws IOException {
    for (nowNs = 5; nowNs < 2 * SECOND_NS; nowNs += SECOND_NS / 10) {
      quota.look(nowNs);
    }
    assertEquals(2, looks);
  }

  @Test
  void withoutAQuotaNothingIsMeasured() throws IOException {
    final DiskQuota none =
        new DiskQuota(
            () -> {
              throw new IOException("measured");
            },
            0,
            () -> nowNs,
            reasons::add);
    none.look(0);
    assertFalse(none.isNear());
  }
}
