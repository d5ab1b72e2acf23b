package dev.ringfetch.compatibility;

import com.google.protobuf.StringValue;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServerBuilder;
import dev.ringfetch.rpc.Transport;
import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * An application with a server and a client, for a process of its own. It writes a line for each
 * thing that it finds.
 *
 * <p>Arguments, in any number: {@code builders} for a server and a client by Ringfetch's builders,
 * or {@code plain} for those of grpc-api; behind each {@code grpc} to make calls before there can
 * be a ring, {@code ring} to wait for one and then make calls.
 */
final class Application {
  static final String GRPC = "grpc";
  static final String RING = "ring";
  static final String BUILDERS = "builders";
  static final String PLAIN = "plain";

  private static final int LIMIT_S = 60;

  private static final MethodDescriptor<byte[], byte[]> BYTES =
      method("Bytes", new ByteMarshaller());

  /** Of a message that protobuf itself generates, in the version that the application has. */
  private static final MethodDescriptor<StringValue, StringValue> TEXT =
      method("Text", ProtoUtils.marshaller(StringValue.getDefaultInstance()));

  private Application() {}

  private static <T> MethodDescriptor<T, T> method(
      String name, MethodDescriptor.Marshaller<T> marshaller) {
    return MethodDescriptor.newBuilder(marshaller, marshaller)
        .setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName(MethodDescriptor.generateFullMethodName("compatibility.Echo", name))
        .build();
  }

  /** Runs the application. */
  public static void main(String[] args) throws Exception {
    int i = 0;
    while (i < args.length) {
      final boolean plain = args[i++].equals(PLAIN);
      final Server server = start(plain);
      final ManagedChannel channel = connect(plain, "localhost:" + server.getPort());
      try {
        for (; i < args.length && (args[i].equals(GRPC) || args[i].equals(RING)); i++) {
          if (args[i].equals(RING)) {
            awaitRing((RingChannel) channel);
          }
          calls(channel);
        }
        report(channel);
      } finally {
        channel.shutdownNow().awaitTermination(LIMIT_S, TimeUnit.SECONDS);
        server.shutdownNow().awaitTermination(LIMIT_S, TimeUnit.SECONDS);
      }
    }
  }

  private static Server start(boolean plain) throws IOException {
    final ServerBuilder<?> builder =
        plain ? ServerBuilder.forPort(0) : RingServerBuilder.forPort(0);
    return builder.addService(service()).build().start();
  }

  private static ManagedChannel connect(boolean plain, String target) {
    final ManagedChannelBuilder<?> builder =
        plain ? ManagedChannelBuilder.forTarget(target) : RingChannelBuilder.forTarget(target);
    return builder.usePlaintext().build();
  }

  private static ServerServiceDefinition service() {
    return ServerServiceDefinition.builder("compatibility.Echo")
        .addMethod(BYTES, echo())
        .addMethod(TEXT, echo())
        .build();
  }

  private static <T> ServerCallHandler<T, T> echo() {
    return ServerCalls.asyncUnaryCall(
        (request, responses) -> {
          responses.onNext(request);
          responses.onCompleted();
        });
  }

  private static void calls(ManagedChannel channel) {
    final CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(LIMIT_S, TimeUnit.SECONDS);
    final byte[] bytes =
        ClientCalls.blockingUnaryCall(
            channel, BYTES, options, "bytes".getBytes(StandardCharsets.UTF_8));
    final StringValue text =
        ClientCalls.blockingUnaryCall(channel, TEXT, options, StringValue.of("text"));
    say("answers=" + new String(bytes, StandardCharsets.UTF_8) + "," + text.getValue());
  }

  /** Asks for a ring, and waits until there is one. */
  private static void awaitRing(RingChannel channel) throws InterruptedException {
    final long start = System.nanoTime();
    final ConnectivityState unused = channel.getState(true);
    while (!channel.transport().isRing()) {
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(LIMIT_S)) {
        throw new IllegalStateException("no ring: " + channel.transport());
      }
      Thread.sleep(1);
    }
  }

  private static void report(ManagedChannel channel) {
    if (channel instanceof RingChannel ring) {
      final Transport transport = ring.transport();
      say("transport=" + transport.name());
      say("reason=" + transport.reason());
      say("ring=" + ring.ringCalls() + " grpc=" + ring.grpcCalls());
    } else {
      say("transport=none of Ringfetch");
    }
  }

  private static void say(String line) {
    System.out.println(line);
  }

  /** Marshaller without a library. */
  private static final class ByteMarshaller implements MethodDescriptor.Marshaller<byte[]> {
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
}
