package dev.ringfetch.benchmarks.stores;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

/**
 * The service that answers Get and Put at once, with messages of the same length as the index's and
 * without an index: what a call of the index costs beyond it is the index's.
 */
final class Echo {
  private static final String NAME = "ringfetch.benchmarks.v1.Echo";

  /** As long on the wire as the version of most entries of a million. */
  private static final long VERSION = 1_000_000;

  private static final long INCARNATION = 1;

  /** {@code Index.Get} under this service's name. */
  static final MethodDescriptor<GetRequest, GetResponse> GET =
      IndexGrpc.getGetMethod().toBuilder()
          .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, "Get"))
          .build();

  /** {@code Index.Put} under this service's name. */
  static final MethodDescriptor<PutRequest, PutResponse> PUT =
      IndexGrpc.getPutMethod().toBuilder()
          .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, "Put"))
          .build();

  /** The number whose entry each Get returns. */
  static final long NUMBER = 0;

  private Echo() {}

  /** The service. */
  static ServerServiceDefinition service() {
    final GetResponse got =
        GetResponse.newBuilder()
            .setEntry(
                Entry.newBuilder()
                    .setKey(Entries.key(NUMBER, new byte[Entries.KEY_LENGTH]))
                    .setValue(value())
                    .setVersion(VERSION))
            .setIncarnation(INCARNATION)
            .build();
    final PutResponse put =
        PutResponse.newBuilder().setVersion(VERSION).setIncarnation(INCARNATION).build();
    return ServerServiceDefinition.builder(NAME)
        .addMethod(
            GET,
            ServerCalls.asyncUnaryCall(
                (GetRequest request, StreamObserver<GetResponse> response) ->
                    answer(response, got)))
        .addMethod(
            PUT,
            ServerCalls.asyncUnaryCall(
                (PutRequest request, StreamObserver<PutResponse> response) ->
                    answer(response, put)))
        .build();
  }

  private static ByteString value() {
    return Entries.value(NUMBER, VERSION, new byte[Entries.VALUE_LENGTH]);
  }

  private static <T> void answer(StreamObserver<T> observer, T response) {
    observer.onNext(response);
    observer.onCompleted();
  }
}
