package dev.ringfetch.fabric;

import static dev.ringfetch.fabric.FabricHarness.LENGTH;
import static dev.ringfetch.fabric.QueuePair.CLOSED;
import static dev.ringfetch.fabric.QueuePair.POSTED;
import static dev.ringfetch.fabric.QueuePair.SEND_QUEUE_FULL;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.FabricHarness.Connection;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Datagrams beside a connection. They may be lost: what is to come is sent until it does. */
public abstract class DatagramContract extends FabricContract {
  private static final int MANY = 5_000; // more than there are receives, or room to send

  /** Takes what has come, a copy each. */
  private static List<byte[]> poll(QueuePair client, int limit) {
    List<byte[]> datagrams = new ArrayList<>();
    int count =
        client.pollDatagrams(
            (region, offset, length) -> {
              assertEquals(0, offset % Long.BYTES);
              byte[] datagram = new byte[length];
              region.getBytes(offset, datagram, 0, length);
              datagrams.add(datagram);
            },
            limit);
    assertEquals(count, datagrams.size());
    return datagrams;
  }

  /** Sends a range until a datagram comes, and returns it. */
  private byte[] exchange(Connection connection, int offset, int length) throws IOException {
    List<byte[]> came = new ArrayList<>();
    harness.drive(
        () -> {
          int sent = connection.server().sendDatagram(offset, length);
          assertTrue(sent == POSTED || sent == SEND_QUEUE_FULL, "sent=" + sent);
          came.addAll(poll(connection.client(), 16));
          return !came.isEmpty();
        });
    return came.get(0);
  }

  private static byte[] fill(Connection connection, long seed, int offset, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    connection.server().memory().putBytes(offset, bytes, 0, length);
    connection.server().memory().fullFence();
    return bytes;
  }

  @Test
  void whatIsSentComes() throws IOException {
    Connection connection = harness.connect("a", true);
    int max = connection.client().capabilities().maxDatagram();
    assertTrue(max >= 256, "maxDatagram=" + max);
    assertEquals(max, connection.server().capabilities().maxDatagram());
    for (int length : new int[] {8, 64, 200, max}) {
      byte[] sent = fill(connection, length, LENGTH - length, length);
      byte[] came = exchange(connection, LENGTH - length, length);
      while (came.length != length) { // the one before, sent more often than needed
        came = exchange(connection, LENGTH - length, length);
      }
      assertArrayEquals(sent, came, "length=" + length);
    }
  }

  @Test
  void moreThanThereIsRoomForDoNoHarm() throws IOException {
    Connection connection = harness.connect("a", true);
    for (int i = 0; i < MANY; i++) {
      int sent = connection.server().sendDatagram(0, 64);
      assertTrue(sent == POSTED || sent == SEND_QUEUE_FULL, "sent=" + sent);
    }
    harness.settle();
    List<byte[]> came = poll(connection.client(), MANY);
    assertTrue(came.size() < MANY, "came=" + came.size());
    byte[] sent = fill(connection, 7, 64, 128);
    byte[] next = exchange(connection, 64, 128);
    while (next.length != 128) {
      next = exchange(connection, 64, 128);
    }
    assertArrayEquals(sent, next);
    connection.server().ringDoorbell();
    harness.drive(() -> connection.toldClient().rings > 0);
    assertTrue(connection.toldServer().ends.isEmpty());
    assertTrue(connection.toldClient().ends.isEmpty());
  }

  @Test
  void noMoreAreHandedOutThanAskedFor() throws IOException {
    Connection connection = harness.connect("a", true);
    harness.drive(
        () -> {
          connection.server().sendDatagram(0, 64);
          connection.server().sendDatagram(0, 64);
          List<byte[]> came = poll(connection.client(), 1);
          assertTrue(came.size() <= 1);
          return !came.isEmpty() && poll(connection.client(), 1).size() == 1;
        });
    assertEquals(0, poll(connection.client(), 0).size());
  }

  @Test
  void anotherConnectionsDoNotCome() throws IOException {
    Connection first = harness.connect("a", true);
    Connection second = harness.connect("b", true);
    byte[] firsts = fill(first, 1, 0, 64);
    byte[] seconds = fill(second, 2, 0, 64);
    for (int i = 0; i < 8; i++) {
      assertArrayEquals(firsts, exchange(first, 0, 64));
      assertArrayEquals(seconds, exchange(second, 0, 64));
    }
  }

  @Test
  void whoDoesNotAskForThemHasNone() throws IOException {
    Connection connection = harness.connect("a");
    for (QueuePair side : List.of(connection.server(), connection.client())) {
      assertEquals(0, side.capabilities().maxDatagram());
      assertThrows(IllegalArgumentException.class, () -> side.sendDatagram(0, 64));
      assertEquals(0, poll(side, 1).size());
    }
  }

  @Test
  void rangesAreChecked() throws IOException {
    Connection connection = harness.connect("a", true);
    int max = connection.server().capabilities().maxDatagram();
    int[][] wrong = {
      {-8, 64}, {0, -8}, {0, 0}, {0, max + 1}, {LENGTH, 8}, {LENGTH - 56, 64}, {1 << 30, 8}
    };
    for (int[] range : wrong) {
      assertThrows(
          IllegalArgumentException.class,
          () -> connection.server().sendDatagram(range[0], range[1]),
          "offset=" + range[0] + " length=" + range[1]);
    }
  }

  @Test
  void theyGoOneWayAndEndWithTheConnection() throws IOException {
    Connection connection = harness.connect("a", true);
    assertEquals(CLOSED, connection.client().sendDatagram(0, 64));
    assertEquals(0, poll(connection.server(), 16).size());
    exchange(connection, 0, 64);
    connection.client().close();
    assertEquals(0, poll(connection.client(), 16).size());
    harness.drive(() -> !connection.toldServer().ends.isEmpty());
    assertEquals(CLOSED, connection.server().sendDatagram(0, 64));
    connection.server().close();
    assertEquals(CLOSED, connection.server().sendDatagram(0, 64));
  }
}
