package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.junit.jupiter.api.Test;

class EndpointsTest {
  private static final byte[] NONE = {};

  private static SocketAddress at(int port, int... ip) throws Exception {
    final byte[] bytes = new byte[ip.length];
    for (int i = 0; i < ip.length; i++) {
      bytes[i] = (byte) ip[i];
    }
    return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
  }

  @Test
  void addressAndPortInNetworkOrder() throws Exception {
    assertArrayEquals(
        new byte[] {10, 0, 0, 1, (byte) 0xFF, 2}, Endpoints.encode(at(0xFF02, 10, 0, 0, 1)));
  }

  @Test
  void whatHasNoneIsUnknown() {
    assertArrayEquals(NONE, Endpoints.encode(null));
    assertArrayEquals(NONE, Endpoints.encode(new SocketAddress() {}));
    assertArrayEquals(NONE, Endpoints.encode(InetSocketAddress.createUnresolved("host", 1)));
  }

  @Test
  void nothingStandsBetweenWhereBothSeeTheSame() throws Exception {
    final byte[] own = Endpoints.encode(at(7, 10, 0, 0, 1));
    assertNull(Endpoints.between(own, at(7, 10, 0, 0, 1)));
    assertNull(Endpoints.between(own, null), "the server sees nothing");
    assertNull(Endpoints.between(NONE, at(7, 10, 0, 0, 1)), "the client does not say");
  }

  @Test
  void aMappedAddressIsTheOneThatItMaps() throws Exception {
    final byte[] mapped = new byte[16];
    mapped[10] = -1;
    mapped[11] = -1;
    mapped[12] = 10;
    mapped[15] = 1;
    final SocketAddress seen = new InetSocketAddress(Inet6Address.getByAddress("", mapped, 3), 7);
    assertNull(Endpoints.between(Endpoints.encode(at(7, 10, 0, 0, 1)), seen));
  }

  @Test
  void aScopeIsNoPartOfAnAddress() throws Exception {
    final byte[] link = new byte[16];
    link[0] = (byte) 0xFE;
    link[1] = (byte) 0x80;
    link[15] = 1;
    final SocketAddress own = new InetSocketAddress(Inet6Address.getByAddress("", link, 2), 7);
    final SocketAddress seen = new InetSocketAddress(Inet6Address.getByAddress("", link, 3), 7);
    assertNull(Endpoints.between(Endpoints.encode(own), seen));
  }

  @Test
  void whatDiffersIsTold() throws Exception {
    assertEquals(
        "a proxy or an address translation stands between: the client is at 10.0.0.1:7 and the"
            + " server sees [0:0:0:0:0:0:0:1]:8; acrossProxies() of a builder allows a ring all the"
            + " same",
        Endpoints.between(
            Endpoints.encode(at(7, 10, 0, 0, 1)),
            at(8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)));
    final byte[] own = Endpoints.encode(at(7, 10, 0, 0, 1));
    assertTrue(Endpoints.between(own, at(8, 10, 0, 0, 1)).contains("10.0.0.1:8"), "another port");
  }

  @Test
  void whatAHostileClientSaysIsNoError() throws Exception {
    assertTrue(
        Endpoints.between(new byte[3], at(7, 10, 0, 0, 1)).contains("an address of 3 bytes"));
    assertTrue(
        Endpoints.between(new byte[1], at(7, 10, 0, 0, 1)).contains("an address of 1 bytes"));
  }
}
