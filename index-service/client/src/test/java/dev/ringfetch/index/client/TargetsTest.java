package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What the targets of clients are taken for. */
final class TargetsTest {
  @Test
  void oneAddressMayBeASingleServer() {
    assertEquals(new Targets(List.of("a:1"), false), Targets.of("a:1"));
    assertEquals(new Targets(List.of("dns:///a:1"), false), Targets.of("dns:///a:1"));
  }

  @Test
  void severalAddressesAreNodes() {
    assertEquals(new Targets(List.of("a:1", "b:2"), true), Targets.of("a:1,b:2"));
  }

  @Test
  void aCoordinatorThatNothingHereKnowsIsRefusedWithWhatToAdd() {
    final IllegalStateException refusal =
        assertThrows(
            IllegalStateException.class, () -> IndexClient.connect("zk://a:2181,b:2181/c").close());
    assertTrue(refusal.getMessage().contains("ringfetch-index-cluster"), refusal.getMessage());
  }
}
