package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "a:1,", "a:1,,b:2", "::1:5000", "a:1,fe80::1:5000", "1::"})
  void anAddressThatCanBeNoneIsRefusedByName(String target) {
    final IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> Targets.of(target));
    assertTrue(refusal.getMessage().contains("[IPv6]:PORT"), refusal.getMessage());
  }

  @Test
  void anAddressOfIpv6HasBrackets() {
    assertEquals(new Targets(List.of("[::1]:1", "b:2"), true), Targets.of("[::1]:1,b:2"));
  }

  @Test
  void aCoordinatorThatNothingHereKnowsIsRefusedWithWhatToAdd() {
    final IllegalStateException refusal =
        assertThrows(
            IllegalStateException.class, () -> IndexClient.connect("zk://a:2181,b:2181/c").close());
    assertTrue(refusal.getMessage().contains("ringfetch-index-cluster"), refusal.getMessage());
  }
}
