package dev.ringfetch.system;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An index whose every answer is a keyed hash of its request, so that an answer which went to
 * another call, or has bytes of one, is noticed. Calls of the index {@link #HANG} are never
 * answered.
 */
public final class HashIndex extends IndexGrpc.IndexImplBase {
  public static final String HANG = "hang";

  private static final long SECRET = 0x9e37_79b9_7f4a_7c15L;
  private static final int HEADER_LENGTH = Long.BYTES + Integer.BYTES;

  private final AtomicLong served = new AtomicLong();
  private final AtomicInteger hanging = new AtomicInteger();
  private final AtomicInteger cancelled = new AtomicInteger();

  /** A request that no other number makes. */
  public static GetRequest request(long number, int padding, int answerLength) {
    final ByteBuffer key = ByteBuffer.allocate(HEADER_LENGTH + padding);
    key.putLong(number).putInt(answerLength);
    long word = number;
    while (key.hasRemaining()) {
      word = mix(word + SECRET);
      key.put((byte) word);
    }
    return GetRequest.newBuilder().setKey(UnsafeByteOperations.unsafeWrap(key.array())).build();
  }

  /** A small request, or now and then a larger one, with an answer to match. */
  public static GetRequest request(long number) {
    final int padding = number % 97 == 0 ? 1500 : Math.floorMod(number, 40);
    final int answerLength = number % 89 == 0 ? 3000 : Math.floorMod(number, 50);
    return request(number, padding, answerLength);
  }

  /** A request that is never answered. */
  public static GetRequest hangingRequest() {
    return GetRequest.newBuilder().setIndex(HANG).setKey(ByteString.copyFromUtf8("x")).build();
  }

  /** True when this is the answer to that request, to the last byte. */
  public static boolean isAnswer(GetRequest request, GetResponse response) {
    return answer(request).equals(response);
  }

  private static GetResponse answer(GetRequest request) {
    final ByteBuffer key = request.getKey().asReadOnlyByteBuffer();
    key.getLong();
    final byte[] value = new byte[key.getInt()];
    long hash = SECRET;
    for (int i = 0; i < request.getKey().size(); i++) {
      hash = mix(hash ^ request.getKey().byteAt(i));
    }
    long word = hash;
    for (int i = 0; i < value.length; i++) {
      word = mix(word + SECRET);
      value[i] = (byte) word;
    }
    return GetResponse.newBuilder()
        .setEntry(
            Entry.newBuilder().setValue(UnsafeByteOperations.unsafeWrap(value)).setVersion(hash))
        .build();
  }

  private static long mix(long seed) {
    long word = (seed ^ (seed >>> 33)) * 0xff51_afd7_ed55_8ccdL;
    word = (word ^ (word >>> 33)) * 0xc4ce_b9fe_1a85_ec53L;
    return word ^ (word >>> 33);
  }

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> responses) {
    if (HANG.equals(request.getIndex())) {
      ((ServerCallStreamObserver<GetResponse>) responses)
          .setOnCancelHandler(cancelled::incrementAndGet);
      hanging.incrementAndGet();
      return;
    }
    served.incrementAndGet();
    responses.onNext(answer(request));
    responses.onCompleted();
  }

  /** Calls that were answered. */
  public long served() {
    return served.get();
  }

  /** Calls that hang, or have hung until they were cancelled. */
  public int hanging() {
    return hanging.get();
  }

  /** Calls whose handler has seen a cancel. */
  public int cancelled() {
    return cancelled.get();
  }
}
