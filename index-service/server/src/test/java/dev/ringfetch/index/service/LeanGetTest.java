package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import dev.ringfetch.index.FirstAnswer;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.stub.StreamObserver;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The handler on bytes answers as the one on messages does, to the byte, or declines. */
final class LeanGetTest {
  private static final int MAX_KEY_LENGTH = 1024;

  private final Random random = new Random(5);
  private final Indexes indexes = new Indexes();
  private final IndexService service = new IndexService(indexes);
  private final LeanGet lean = new LeanGet(indexes);

  @AfterEach
  void close() {
    indexes.close();
  }

  private static <T> T await(Consumer<StreamObserver<T>> call) throws Exception {
    final FirstAnswer<T> answer = new FirstAnswer<>();
    call.accept(answer);
    return answer.get(60, TimeUnit.SECONDS);
  }

  private void put(String index, ByteString key, ByteString value, long ttlMs) throws Exception {
    final PutRequest request =
        PutRequest.newBuilder().setIndex(index).setKey(key).setValue(value).setTtlMs(ttlMs).build();
    final PutResponse response = await(responses -> service.put(request, responses));
    assertTrue(response.getVersion() > 0);
  }

  private ByteString bytes(int length) {
    final byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return ByteString.copyFrom(bytes);
  }

  private static GetRequest get(String index, ByteString key) {
    return GetRequest.newBuilder().setIndex(index).setKey(key).build();
  }

  /** The answer to a request that is somewhere in an array; null if it is declined. */
  private byte[] answer(ByteString request) {
    final byte[] array = new byte[request.size() + 20];
    random.nextBytes(array);
    request.copyTo(array, 7);
    final LeanGet.Message answer = lean.answer(array, 7, request.size());
    return answer == null ? null : answer.toByteArray();
  }

  private void assertSameAnswer(GetRequest request) throws Exception {
    final GetResponse expected = await(responses -> service.get(request, responses));
    final byte[] answer = answer(request.toByteString());
    assertNotNull(answer, request::toString);
    assertArrayEquals(expected.toByteArray(), answer, request::toString);
  }

  @Test
  void answersAreThoseOfTheService() throws Exception {
    for (final String index : new String[] {"", "named", "a".repeat(255)}) {
      for (final int keyLength : new int[] {1, 2, 127, 128, 1000, MAX_KEY_LENGTH}) {
        final ByteString key = bytes(keyLength);
        for (final int valueLength : new int[] {0, 1, 127, 128, 70_000, 16_383, 16_384, 20}) {
          put(index, key, bytes(valueLength), 0);
          assertSameAnswer(get(index, key));
        }
        put(index, key, bytes(40), TimeUnit.DAYS.toMillis(1));
        assertSameAnswer(get(index, key));
        assertSameAnswer(get(index, bytes(keyLength).concat(key).substring(1, 1 + keyLength)));
      }
    }
  }

  @Test
  void theOrderOfFieldsDoesNotMatter() throws Exception {
    final ByteString key = bytes(9);
    put("named", key, bytes(3), 0);
    final ByteString keyFirst =
        get("", key)
            .toByteString()
            .concat(GetRequest.newBuilder().setIndex("named").build().toByteString());
    assertArrayEquals(answer(get("named", key).toByteString()), answer(keyFirst));
  }

  @Test
  void declinesWhatItDoesNotKnow() throws Exception {
    final ByteString key = bytes(9);
    put("", key, bytes(3), 0);
    put("\u00e9", key, bytes(3), 0);
    final GetRequest request = get("", key);
    assertNotNull(answer(request.toByteString()));
    assertNull(answer(get("unknown", key).toByteString()));
    assertNull(answer(get("\u00e9", key).toByteString()), "a name that is not ASCII");
    assertNull(answer(ByteString.EMPTY));
    assertNull(answer(get("named", ByteString.EMPTY).toByteString()));
    assertNull(answer(get("", bytes(MAX_KEY_LENGTH + 1)).toByteString()));
    assertNull(answer(get("", bytes(1 << 20)).toByteString()));
    assertNull(answer(request.toByteString().concat(request.toByteString())), "two keys");
    final UnknownFieldSet unknown =
        UnknownFieldSet.newBuilder()
            .addField(5, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
            .build();
    assertNull(answer(request.toBuilder().setUnknownFields(unknown).build().toByteString()));
    assertTrue(IndexRequests.drop(indexes, ""));
    assertNull(answer(request.toByteString()), "no such index");
  }

  /** Truncated and changed requests are declined, or mean what protobuf reads in them. */
  @Test
  void misreadsNoRequest() throws Exception {
    final ByteString key = bytes(3);
    put("", key, bytes(3), 0);
    put("ab", key, bytes(4), 0);
    int answered = 0;
    for (int i = 0; i < 100_000; i++) {
      final byte[] request = get(random.nextBoolean() ? "" : "ab", key).toByteArray();
      request[random.nextInt(request.length)] = (byte) random.nextInt();
      final int length = random.nextInt(4) == 0 ? random.nextInt(request.length) : request.length;
      final LeanGet.Message message = lean.answer(request, 0, length);
      if (message != null) {
        answered++;
        final byte[] answer = message.toByteArray();
        final GetRequest read = parse(request, length);
        final GetResponse expected = await(responses -> service.get(read, responses));
        assertArrayEquals(expected.toByteArray(), answer, read::toString);
      }
    }
    assertTrue(answered > 1_000, "answered=" + answered);
  }

  private static GetRequest parse(byte[] request, int length) {
    try {
      return GetRequest.parser().parseFrom(request, 0, length);
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError("answered, but no request: length=" + length, e);
    }
  }

  /** Protobuf reads a length of two bytes even where one would do. */
  @Test
  void readsLengthsOfTwoBytes() throws Exception {
    final ByteString key = bytes(3);
    put("", key, bytes(3), 0);
    final ByteString request = get("", key).toByteString();
    final ByteString longer =
        request
            .substring(0, 1)
            .concat(ByteString.copyFrom(new byte[] {(byte) 0x83, 0}))
            .concat(key);
    assertEquals(get("", key), GetRequest.parseFrom(longer));
    assertArrayEquals(answer(request), answer(longer));
  }
}
