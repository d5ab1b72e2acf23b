package dev.ringfetch.benchmarks.stores;

import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.stub.ClientCalls;

/** The calls of {@link Echo}, in place of a store. */
final class EchoStore implements Store {
  private final Channel channel;

  EchoStore(Channel channel) {
    this.channel = channel;
  }

  @Override
  public Session open() {
    return new Calls(channel);
  }

  @Override
  public void clear() {}

  @Override
  public long usedBytes() {
    return 0;
  }

  @Override
  public void close() {}

  private static final class Calls implements Session {
    private final Channel channel;
    private final byte[] keyBytes = new byte[Entries.KEY_LENGTH];
    private final byte[] valueBytes = new byte[Entries.VALUE_LENGTH];

    Calls(Channel channel) {
      this.channel = channel;
    }

    @Override
    public boolean get(long number) {
      final GetRequest request =
          GetRequest.newBuilder().setKey(Entries.key(number, keyBytes)).build();
      final GetResponse response =
          ClientCalls.blockingUnaryCall(channel, Echo.GET, CallOptions.DEFAULT, request);
      return StubStore.isValue(Echo.NUMBER, response, valueBytes);
    }

    @Override
    public void put(long number, long stamp) {
      final PutRequest request =
          PutRequest.newBuilder()
              .setKey(Entries.key(number, keyBytes))
              .setValue(Entries.value(number, stamp, valueBytes))
              .build();
      final PutResponse response =
          ClientCalls.blockingUnaryCall(channel, Echo.PUT, CallOptions.DEFAULT, request);
      if (response.getVersion() == 0) {
        throw new IllegalStateException("not answered: number=" + number);
      }
    }

    @Override
    public void putAll(long first, long end) {
      throw new UnsupportedOperationException("an echo keeps nothing");
    }
  }
}
