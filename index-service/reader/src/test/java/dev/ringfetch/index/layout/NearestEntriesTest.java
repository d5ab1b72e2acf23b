package dev.ringfetch.index.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;

/** The nearest entries when their bytes are bounded, in whatever order a search meets them. */
class NearestEntriesTest {
  private final NearestEntries nearest =
      new NearestEntries(SpatialQuery.near(0, 0, 1, 1, Double.POSITIVE_INFINITY), 2, 1_000);

  private void add(double x, int length) {
    final byte[] entry =
        ByteString.copyFromUtf8("k")
            .concat(BoxDescriptor.bytes(x, 0, x, 0))
            .concat(ByteString.copyFrom(new byte[length]))
            .toByteArray();
    nearest.add(entry, 0, 1, entry.length - 1, 1, 0);
  }

  @Test
  void nothingTakesThePlaceOfANearerEntryThatIsTooLong() {
    add(1, 600);
    add(2, 600); // no room
    add(3, 0);
    assertEquals(1, nearest.count());
    assertTrue(nearest.isTooLong());
  }
}
