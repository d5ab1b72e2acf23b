package dev.ringfetch.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.rdma.natives.ConnectionManager;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class IntroductionTest {
  private static final byte[] SECRET = {-1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

  private static Introduction.Side side(int datagrams) {
    return new Introduction.Side(
        new RemoteMemory(1L << 60, 1 << 20, -5), new RemoteMemory(-7, Long.BYTES, 9), datagrams);
  }

  private static ByteBuffer received(ByteBuffer sent, int length) {
    ByteBuffer received = ByteBuffer.allocate(length);
    return received.put(0, sent, 0, Math.min(length, sent.capacity()));
  }

  @Test
  void bothSidesSayWhatTheyHave() throws IOException {
    Introduction.Token token = Introduction.Token.of(SECRET);
    for (int datagrams : new int[] {0, 1, 0x8000, 0xFFFFFF}) {
      Introduction said = new Introduction(-3, token, side(datagrams));
      ByteBuffer data = said.encode();
      assertEquals(Introduction.LENGTH, data.capacity());
      Introduction heard = Introduction.decode(received(data, 92)); // zeros are added
      assertEquals(said.offer(), heard.offer());
      assertEquals(said.side(), heard.side());
      assertTrue(token.matches(heard.token()));
      assertEquals(token.queueKey(), heard.token().queueKey());

      ByteBuffer answer = Introduction.encodeAccept(said.side());
      assertEquals(said.side(), Introduction.decodeAccept(received(answer, 196)));
    }
  }

  @Test
  void theyHaveRoom() {
    assertTrue(Introduction.LENGTH <= ConnectionManager.CONNECT_DATA);
    assertTrue(Introduction.ACCEPT_LENGTH <= ConnectionManager.ACCEPT_DATA);
  }

  @Test
  void whatIsCutOffIsRefused() {
    ByteBuffer data = new Introduction(1, Introduction.Token.of(SECRET), side(2)).encode();
    assertThrows(
        IOException.class, () -> Introduction.decode(received(data, Introduction.LENGTH - 1)));
    assertThrows(IOException.class, () -> Introduction.decode(received(data, 0)));
  }

  /** The upper half of the keys is for privileged users. */
  @Test
  void queueKeysAreOfTheTokenAndAnybodys() {
    byte[] other = SECRET.clone();
    other[3]++;
    int key = Introduction.Token.of(SECRET).queueKey();
    assertTrue(key >= 0);
    assertNotEquals(key, Introduction.Token.of(other).queueKey());
  }
}
