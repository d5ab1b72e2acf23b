package dev.ringfetch.rdma.natives;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** Socket addresses as the operating system lays them out. */
final class AddressLayoutTest {
  private final ByteBuffer buffer = ByteBuffer.allocate(AddressLayout.SIZE);

  @Test
  void inetIsLaidOutInNetworkOrder() throws UnknownHostException {
    AddressLayout.encode(address("10.0.2.15", 0xABCD), buffer);
    assertEquals(
        AddressLayout.INET, buffer.order(ByteOrder.nativeOrder()).getShort(AddressLayout.FAMILY));
    byte[] rest = new byte[6];
    buffer.get(2, rest);
    assertArrayEquals(new byte[] {(byte) 0xAB, (byte) 0xCD, 10, 0, 2, 15}, rest);
  }

  @Test
  void bothFamiliesComeBack() throws UnknownHostException {
    for (InetSocketAddress address :
        new InetSocketAddress[] {
          address("192.168.255.1", 65535), address("::1", 1), address("2001:db8::7", 4791)
        }) {
      AddressLayout.encode(address, buffer);
      assertEquals(address, AddressLayout.decode(buffer));
    }
  }

  @Test
  void linkLocalAddressKeepsItsInterface() throws UnknownHostException {
    byte[] bytes = InetAddress.getByName("fe80::5").getAddress();
    AddressLayout.encode(
        new InetSocketAddress(Inet6Address.getByAddress(null, bytes, 3), 9), buffer);
    Inet6Address host = (Inet6Address) AddressLayout.decode(buffer).getAddress();
    assertEquals(3, host.getScopeId());
    assertArrayEquals(bytes, host.getAddress());
  }

  @Test
  void shorterAddressLeavesNothingOfALongerOne() throws UnknownHostException {
    AddressLayout.encode(address("2001:db8::7", 1), buffer);
    AddressLayout.encode(address("10.0.0.1", 1), buffer);
    for (int i = 8; i < AddressLayout.SIZE; i++) {
      assertEquals(0, buffer.get(i), "offset " + i);
    }
  }

  @Test
  void noFamilyIsNoAddress() {
    assertNull(AddressLayout.decode(buffer));
  }

  @Test
  void unresolvedAddressIsRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> AddressLayout.encode(InetSocketAddress.createUnresolved("nowhere", 1), buffer));
  }

  private static InetSocketAddress address(String literal, int port) throws UnknownHostException {
    return new InetSocketAddress(InetAddress.getByName(literal), port);
  }
}
