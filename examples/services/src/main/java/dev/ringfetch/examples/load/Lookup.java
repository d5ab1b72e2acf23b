package dev.ringfetch.examples.load;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc.IndexBlockingStub;
import dev.ringfetch.index.v1.PutRequest;
import java.nio.charset.StandardCharsets;

/** The call that is measured: Index.Get of an entry whose value has a given length. */
public final class Lookup implements Runnable {
  private final IndexBlockingStub stub;
  private final ByteString value;
  private final GetRequest request;

  /** Writes the entry. */
  public Lookup(IndexBlockingStub stub, int length) {
    final byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = valueAt(i);
    }
    this.stub = stub;
    this.value = ByteString.copyFrom(bytes);
    final ByteString key =
        ByteString.copyFrom("figures/" + length + "-bytes", StandardCharsets.US_ASCII);
    this.request = GetRequest.newBuilder().setKey(key).build();
    final var unused = stub.put(PutRequest.newBuilder().setKey(key).setValue(value).build());
  }

  /** What is written at an index of a value, of any length. */
  public static byte valueAt(int index) {
    return (byte) (index * 31 + 7);
  }

  /** One call; a part of the answer is checked. */
  @Override
  public void run() {
    if (!isExpected(stub.get(request))) {
      throw new IllegalStateException("not what was stored: " + request);
    }
  }

  /** The request of each call, for stubs of other kinds. */
  public GetRequest request() {
    return request;
  }

  /** Whether an answer looks like what was written. */
  public boolean isExpected(GetResponse answer) {
    return answer.getEntry().getValue().size() == value.size();
  }

  /** One call whose answer is compared byte by byte. */
  public void check() {
    if (!stub.get(request).getEntry().getValue().equals(value)) {
      throw new IllegalStateException("not what was stored: " + request);
    }
  }
}
