package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.protobuf.ByteString;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Values as JSON: their bytes, and what is refused. */
final class JsonCodecTest {
  private record Session(String user, List<String> rights, Map<String, Integer> visits) {}

  private final Codec<Session> codec = Codec.json(Session.class);

  private static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  @Test
  void equalValuesHaveEqualBytes() {
    final Map<String, Integer> descending = new LinkedHashMap<>();
    descending.put("b", 2);
    descending.put("a", 1);
    final ByteString encoded = codec.encode(new Session("ada", List.of("read"), descending));
    assertEquals(
        "{\"rights\":[\"read\"],\"user\":\"ada\",\"visits\":{\"a\":1,\"b\":2}}",
        encoded.toStringUtf8());
    assertEquals(
        new Session("ada", List.of("read"), Map.of("a", 1, "b", 2)), codec.decode(encoded));
  }

  @Test
  void laterVersionsOfAnApplicationMayAddProperties() {
    assertEquals(
        new Session("ada", null, null), codec.decode(bytes("{\"user\":\"ada\",\"age\":36}")));
  }

  @Test
  void whatIsNoJsonOfTheTypeIsRefused() {
    for (final String text : List.of("", "{", "[]", "{\"rights\":7}", "{}{}", "{} 1", "null")) {
      final IllegalArgumentException refused =
          assertThrows(IllegalArgumentException.class, () -> codec.decode(bytes(text)), text);
      assertTrue(refused.getMessage().contains("Session"), refused.getMessage());
    }
    assertThrows(NullPointerException.class, () -> codec.encode(null));
    final IllegalArgumentException empty =
        assertThrows(
            IllegalArgumentException.class, () -> Codec.json(Object.class).encode(new Object()));
    assertTrue(empty.getMessage().startsWith("no JSON of java.lang.Object: "), empty.getMessage());
  }

  @Test
  void anApplicationGivesItsMapper() {
    final Codec<List<Map<String, Long>>> lists =
        JsonCodec.of(new JsonMapper(), new TypeReference<>() {});
    final List<Map<String, Long>> value = List.of(Map.of("a", 1L << 40));
    assertEquals("[{\"a\":1099511627776}]", lists.encode(value).toStringUtf8());
    assertEquals(value, lists.decode(lists.encode(value)));
    assertEquals(
        "JSON of java.util.List<java.util.Map<java.lang.String,java.lang.Long>>", lists.toString());
  }
}
