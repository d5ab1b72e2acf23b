package dev.ringfetch.benchmarks.stores;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;

/**
 * etcd, by gRPC on one connection, to the member that leads: each put is synced before its answer.
 *
 * <p>The few fields that are used of its messages are encoded here: a request has the key in field
 * 1 and the value in field 2; a range's answer has entries in field 2, with the value in field 5.
 */
final class EtcdStore implements Store {
  private static final int PUTS_IN_FLIGHT = 64;
  private static final int KEY = 1;
  private static final int VALUE = 2;
  private static final int ENTRIES = 2;
  private static final int ENTRY_VALUE = 5;
  private static final MethodDescriptor<byte[], byte[]> PUT =
      EtcdEndpoints.method("etcdserverpb.KV/Put");
  private static final MethodDescriptor<byte[], byte[]> RANGE =
      EtcdEndpoints.method("etcdserverpb.KV/Range");

  private final EtcdEndpoints endpoints;

  /** Creates it; the endpoints are closed with it. */
  EtcdStore(EtcdEndpoints endpoints) {
    this.endpoints = endpoints;
  }

  /**
   * The arguments of a member with a folder of its own.
   *
   * @param name of the member
   * @param port for clients
   * @param peerPorts of all members, by their names
   */
  static List<String> serverArguments(
      Path folder, String name, int port, Map<String, Integer> peerPorts) {
    final String clients = "http://127.0.0.1:" + port;
    final String peers = "http://127.0.0.1:" + peerPorts.get(name);
    return List.of(
        "--name",
        name,
        "--data-dir",
        folder.resolve("data").toString(),
        "--listen-client-urls",
        clients,
        "--advertise-client-urls",
        clients,
        "--listen-peer-urls",
        peers,
        "--initial-advertise-peer-urls",
        peers,
        "--initial-cluster",
        peerPorts.entrySet().stream()
            .map(each -> each.getKey() + "=http://127.0.0.1:" + each.getValue())
            .collect(Collectors.joining(",")),
        "--logger",
        "zap",
        "--log-level",
        "error");
  }

  @Override
  public Session open() {
    return new Calls(endpoints);
  }

  @Override
  public void clear() {
    throw new UnsupportedOperationException("its folder is new");
  }

  @Override
  public long usedBytes() {
    throw new UnsupportedOperationException("not measured");
  }

  @Override
  public void close() {
    endpoints.close();
  }

  private static final class Calls implements Session {
    private final EtcdEndpoints endpoints;
    private final byte[] key = new byte[Entries.KEY_LENGTH];
    private final byte[] value = new byte[Entries.VALUE_LENGTH];

    Calls(EtcdEndpoints endpoints) {
      this.endpoints = endpoints;
    }

    @Override
    public boolean get(long number) {
      Entries.putKey(number, key);
      final byte[] response = endpoints.call(RANGE, message(false));
      try {
        final byte[] entry = field(response, ENTRIES);
        final byte[] found = entry == null ? null : field(entry, ENTRY_VALUE);
        return found != null && Entries.isValue(number, found, 0, found.length);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** The first field of this number, which has a length; null if there is none. */
    private static byte[] field(byte[] message, int number) throws IOException {
      final CodedInputStream input = CodedInputStream.newInstance(message);
      int tag = input.readTag();
      while (tag != 0) {
        if (WireFormat.getTagFieldNumber(tag) == number) {
          return input.readByteArray();
        }
        input.skipField(tag);
        tag = input.readTag();
      }
      return null;
    }

    private byte[] message(boolean hasValue) {
      final ByteString keyBytes = ByteString.copyFrom(key);
      final ByteString valueBytes = ByteString.copyFrom(value);
      final int length =
          CodedOutputStream.computeBytesSize(KEY, keyBytes)
              + (hasValue ? CodedOutputStream.computeBytesSize(VALUE, valueBytes) : 0);
      final byte[] message = new byte[length];
      final CodedOutputStream output = CodedOutputStream.newInstance(message);
      try {
        output.writeBytes(KEY, keyBytes);
        if (hasValue) {
          output.writeBytes(VALUE, valueBytes);
        }
        output.checkNoSpaceLeft();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return message;
    }

    private byte[] putMessage(long number, long stamp) {
      Entries.putKey(number, key);
      Entries.putValue(number, stamp, value);
      return message(true);
    }

    @Override
    public void put(long number, long stamp) {
      final var unused = endpoints.call(PUT, putMessage(number, stamp));
    }

    @Override
    public void putAll(long first, long end) {
      final Channel channel = endpoints.leader();
      final ArrayDeque<ListenableFuture<byte[]>> inFlight = new ArrayDeque<>();
      for (long number = first; number < end; number++) {
        if (inFlight.size() == PUTS_IN_FLIGHT) {
          await(inFlight.removeFirst());
        }
        inFlight.addLast(
            ClientCalls.futureUnaryCall(
                channel.newCall(PUT, CallOptions.DEFAULT), putMessage(number, 0)));
      }
      inFlight.forEach(Calls::await);
    }

    private static void await(ListenableFuture<byte[]> put) {
      try {
        put.get();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", e);
      } catch (ExecutionException e) {
        throw new IllegalStateException(String.valueOf(e.getCause()), e);
      }
    }
  }
}
