package dev.ringfetch.index.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses of nodes: which ones a channel takes. */
class NodeAddressTest {
  @Test
  void anAddressOfIpv6GetsBrackets() {
    assertEquals("[::1]:5", NodeAddress.of("::1", 5));
    assertEquals("[::1]:5", NodeAddress.of("[::1]", 5));
    assertEquals("[fe80::1%eth0]:5", NodeAddress.of("fe80::1%eth0", 5));
    assertEquals("host-1.example:65535", NodeAddress.of("host-1.example", 65_535));
    assertEquals("10.7.0.2:1", NodeAddress.of("10.7.0.2", 1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", " ", "host:5", "bad host", "my_host", "[::1", "::1::", "user@host", "h/x"})
  void aHostThatCannotBeIsRefused(String host) {
    final IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> NodeAddress.of(host, 5));
    assertTrue(refusal.getMessage().endsWith("host=" + host + " port=5"), refusal.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ":5", "host", "host:", "host:0", "host:65536", "::1:5", "host:5/x"})
  void anAddressThatCannotBeIsTold(String address) {
    assertFalse(NodeAddress.isValid(address));
  }
}
