package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Protobuf itself says what the messages are. */
final class GetMessagesTest {
  @Test
  void protobufReadsTheRequest() throws Exception {
    final byte[] bytes = new byte[256];
    final byte[] key = "figures/32-bytes".getBytes(StandardCharsets.US_ASCII);
    final int length = GetMessages.putRequest(bytes, key);
    final GetRequest request = GetRequest.parseFrom(ByteString.copyFrom(bytes, 0, length));
    assertEquals(GetRequest.newBuilder().setKey(ByteString.copyFrom(key)).build(), request);
    assertThrows(
        IllegalArgumentException.class, () -> GetMessages.putRequest(bytes, new byte[128]));
  }

  @Test
  void whatProtobufHasWrittenIsRead() {
    for (final int length : new int[] {1, 32, 127, 128, 300, 65_536, 1 << 20}) {
      final byte[] value = new byte[length];
      value[length - 1] = 7;
      final byte[] response =
          GetResponse.newBuilder()
              .setEntry(
                  Entry.newBuilder()
                      .setKey(ByteString.copyFrom(new byte[200]))
                      .setValue(ByteString.copyFrom(value))
                      .setVersion(3_000_000_000L))
              .build()
              .toByteArray();
      final byte[] buffer = new byte[response.length + 9];
      System.arraycopy(response, 0, buffer, 5, response.length);
      assertTrue(GetMessages.isAnswer(buffer, 5, response.length, length, (byte) 7));
      assertFalse(GetMessages.isAnswer(buffer, 5, response.length, length, (byte) 8));
      assertFalse(GetMessages.isAnswer(buffer, 5, response.length, length + 1, (byte) 7));
      assertFalse(
          GetMessages.isAnswer(buffer, 5, response.length - 7, length, (byte) 7)); // cut off
    }
    final byte[] other = {0x10, 1};
    assertThrows(IllegalStateException.class, () -> GetMessages.isAnswer(other, 0, 2, 1, (byte) 7));
  }
}
