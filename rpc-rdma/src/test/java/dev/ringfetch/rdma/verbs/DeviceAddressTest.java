package dev.ringfetch.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rdma.natives.PortLayout;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What the two sides tell each other of where they are. */
final class DeviceAddressTest {
  private static DeviceAddress address(String host, int linkLayer) throws IOException {
    return new DeviceAddress(InetAddress.getByName(host), linkLayer, null);
  }

  @Test
  void addressesOfOneNetworkAreNear() throws IOException {
    DeviceAddress own = address("10.1.2.3", PortLayout.ETHERNET);
    assertEquals(0, own.distance(own));
    assertEquals(1, own.distance(address("10.1.2.2", PortLayout.ETHERNET)));
    assertEquals(8, own.distance(address("10.1.2.131", PortLayout.ETHERNET)));
    assertEquals(32, own.distance(address("192.1.2.3", PortLayout.ETHERNET)));
    assertEquals(
        8,
        own.distance(
            List.of(
                address("192.1.2.3", PortLayout.ETHERNET),
                address("10.1.2.131", PortLayout.ETHERNET))));
  }

  @Test
  void addressesOfAnotherKindAreNotReached() throws IOException {
    DeviceAddress own = address("10.1.2.3", PortLayout.ETHERNET);
    int unreachable = DeviceAddress.UNREACHABLE;
    assertEquals(unreachable, own.distance(address("10.1.2.3", PortLayout.INFINIBAND)));
    assertEquals(unreachable, own.distance(address("fd00::1", PortLayout.ETHERNET)));
    assertEquals(unreachable, own.distance(List.of()));
  }

  @Test
  void descriptorIsReadAsItWasWritten() throws IOException {
    List<InetAddress> addresses =
        List.of(InetAddress.getByName("10.1.2.3"), InetAddress.getByName("fd00::1"));
    OfferDescriptor descriptor = new OfferDescriptor(-5, 128, 65_535, addresses);
    assertEquals(descriptor, OfferDescriptor.decode(descriptor.encode()));
  }

  /** Whatever a peer sends, it is read or refused. */
  @Test
  void descriptorsOfAnythingAreReadOrRefused() throws IOException {
    byte[] right =
        new OfferDescriptor(7, 64, 1, List.of(InetAddress.getByName("10.1.2.3"))).encode();
    for (int length = 0; length < right.length; length++) {
      byte[] cut = Arrays.copyOf(right, length);
      assertThrows(IOException.class, () -> OfferDescriptor.decode(cut), "length=" + length);
    }
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    int refused = 0;
    for (int i = 0; i < 10_000; i++) {
      byte[] mutant = right.clone();
      mutant[random.nextInt(mutant.length)] ^= (byte) (1 + random.nextInt(255));
      try {
        OfferDescriptor read = OfferDescriptor.decode(mutant);
        assertEquals(1, read.addresses().size(), "seed=" + seed + " mutant=" + i);
      } catch (IOException e) {
        refused++;
      }
    }
    assertTrue(refused > 0 && refused < 10_000, "refused=" + refused);
  }
}
