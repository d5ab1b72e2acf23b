package dev.ringfetch.benchmarks.stores;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The members of an etcd cluster, as a client reaches them. Calls go to the member that leads, by
 * its own answer; when one fails, the members are asked for their leader again, and the call is
 * repeated there: no call waits at a member that sends it on to a leader that is gone.
 *
 * <p>Safe for use by several threads.
 */
public final class EtcdEndpoints implements AutoCloseable {
  private static final MethodDescriptor<byte[], byte[]> STATUS =
      method("etcdserverpb.Maintenance/Status");

  // Fields of an answer to Status, and of its header.
  private static final int HEADER = 1;
  private static final int MEMBER = 2;
  private static final int LEADER = 4;
  private static final int APPLIED = 7;

  private static final int CALL_SECONDS = 60; // with all attempts
  private static final int ATTEMPT_SECONDS = 2;
  private static final int STATUS_MILLIS = 500;
  private static final int POLL_MILLIS = 2;

  private final List<ManagedChannel> members;
  private volatile ManagedChannel leading; // null: not known yet

  /**
   * What a member says of itself.
   *
   * @param member its id
   * @param leader id of the member that leads, as it knows; 0: none
   * @param applied index of the last log entry that its store has
   */
  public record State(long member, long leader, long applied) {
    /** Whether it leads. */
    public boolean leads() {
      return member == leader;
    }
  }

  /**
   * Creates them; nothing is connected yet.
   *
   * @param target their addresses, with commas between
   */
  public EtcdEndpoints(String target) {
    members =
        Stream.of(target.split(",", -1))
            .map(each -> Grpc.newChannelBuilder(each, InsecureChannelCredentials.create()))
            .map(builder -> builder.directExecutor().build())
            .toList();
  }

  /** A method whose messages are encoded already. */
  static MethodDescriptor<byte[], byte[]> method(String name) {
    return MethodDescriptor.<byte[], byte[]>newBuilder()
        .setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName(name)
        .setRequestMarshaller(new Bytes())
        .setResponseMarshaller(new Bytes())
        .build();
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** What each member says, in the order of the addresses; empty of one that does not answer. */
  public List<Optional<State>> states() {
    return members.stream().map(EtcdEndpoints::state).toList();
  }

  private static Optional<State> state(ManagedChannel member) {
    member.resetConnectBackoff(); // it may be there again
    try {
      return Optional.of(
          parse(
              ClientCalls.blockingUnaryCall(
                  member,
                  STATUS,
                  CallOptions.DEFAULT.withDeadlineAfter(STATUS_MILLIS, TimeUnit.MILLISECONDS),
                  new byte[0])));
    } catch (StatusRuntimeException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static State parse(byte[] message) throws IOException {
    long member = 0;
    long leader = 0;
    long applied = 0;
    final CodedInputStream input = CodedInputStream.newInstance(message);
    for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
      switch (WireFormat.getTagFieldNumber(tag)) {
        case HEADER -> member = memberOf(input.readByteArray());
        case LEADER -> leader = input.readUInt64();
        case APPLIED -> applied = input.readUInt64();
        default -> input.skipField(tag);
      }
    }
    return new State(member, leader, applied);
  }

  private static long memberOf(byte[] header) throws IOException {
    final CodedInputStream input = CodedInputStream.newInstance(header);
    for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
      if (WireFormat.getTagFieldNumber(tag) == MEMBER) {
        return input.readUInt64();
      }
      input.skipField(tag);
    }
    return 0;
  }

  /** Makes a call that may be repeated. */
  byte[] call(MethodDescriptor<byte[], byte[]> method, byte[] request) {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(CALL_SECONDS);
    while (true) {
      final ManagedChannel used = leading;
      if (used != null) {
        try {
          return ClientCalls.blockingUnaryCall(
              used,
              method,
              CallOptions.DEFAULT.withDeadlineAfter(ATTEMPT_SECONDS, TimeUnit.SECONDS),
              request);
        } catch (StatusRuntimeException e) {
          if (System.nanoTime() - endNs > 0) {
            throw e;
          }
        }
      } else if (System.nanoTime() - endNs > 0) {
        throw new IllegalStateException("no member leads within " + CALL_SECONDS + " s");
      }
      follow(used);
    }
  }

  /** The channel to the member that leads. */
  Channel leader() {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(CALL_SECONDS);
    while (leading == null) {
      if (System.nanoTime() - endNs > 0) {
        throw new IllegalStateException("no member leads within " + CALL_SECONDS + " s");
      }
      follow(null);
    }
    return leading;
  }

  /** Looks once for the member that leads, unless another thread has found one meanwhile. */
  private synchronized void follow(ManagedChannel failed) {
    if (leading != failed) {
      return;
    }
    for (final ManagedChannel member : members) {
      if (state(member).filter(State::leads).isPresent()) {
        leading = member;
        return;
      }
    }
    leading = null;
    try {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public void close() {
    members.forEach(ManagedChannel::shutdownNow);
  }
}
