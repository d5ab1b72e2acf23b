package dev.ringfetch.rpc;

import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCallHandler;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32C;

/** A service by hand, whose messages are bytes. */
final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
  static final Bytes MARSHALLER = new Bytes();
  static final String SERVICE = "contract.Bytes";
  static final MethodDescriptor<byte[], byte[]> METHOD = method(SERVICE + "/Call");
  static final byte[] EMPTY = {};

  private Bytes() {}

  static MethodDescriptor<byte[], byte[]> method(String fullName) {
    return method(fullName, MARSHALLER, MARSHALLER);
  }

  static MethodDescriptor<byte[], byte[]> method(String fullName, MethodType type) {
    return METHOD.toBuilder().setFullMethodName(fullName).setType(type).build();
  }

  static MethodDescriptor<byte[], byte[]> method(
      String fullName,
      MethodDescriptor.Marshaller<byte[]> request,
      MethodDescriptor.Marshaller<byte[]> response) {
    return MethodDescriptor.newBuilder(request, response)
        .setType(MethodType.UNARY)
        .setFullMethodName(fullName)
        .setSampledToLocalTracing(true) // metrics name it
        .build();
  }

  @Override
  public InputStream stream(byte[] message) {
    return new ByteArrayInputStream(message);
  }

  @Override
  public byte[] parse(InputStream stream) {
    try {
      return stream.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static byte[] random(long seed, int length) {
    final byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /**
   * As long as the request, and random with the request's checksum as the seed: an echo would undo,
   * on its way back, what went wrong on the way there.
   */
  static byte[] digest(byte[] request) {
    final CRC32C checksum = new CRC32C();
    checksum.update(request);
    return random(checksum.getValue(), request.length);
  }

  /** A handler as generated services have it. */
  static ServerCallHandler<byte[], byte[]> answering(UnaryOperator<byte[]> answer) {
    return ServerCalls.asyncUnaryCall(
        (request, responses) -> {
          responses.onNext(answer.apply(request));
          responses.onCompleted();
        });
  }

  static ServerCallHandler<byte[], byte[]> digesting() {
    return answering(Bytes::digest);
  }

  static Metadata.Key<String> ascii(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  static Metadata.Key<byte[]> binary(String name) {
    return Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER);
  }

  static Metadata metadata(String name, String value) {
    final Metadata metadata = new Metadata();
    metadata.put(ascii(name), value);
    return metadata;
  }

  /** Options of a call whose callbacks run in whatever thread brings them. */
  static CallOptions direct() {
    return CallOptions.DEFAULT.withExecutor(Runnable::run);
  }
}
