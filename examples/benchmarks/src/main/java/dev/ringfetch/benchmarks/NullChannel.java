package dev.ringfetch.benchmarks;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;

/**
 * A transport that does nothing but what the gRPC API asks of every transport: it marshals request
 * and response, runs handler and listeners, and makes the metadata objects that they need. All on
 * the calling thread. The cost of a real transport is the difference to this. For one thread.
 */
public final class NullChannel extends Channel {
  private final ServerServiceDefinition service;
  private final NullBuffer requests = new NullBuffer();
  private final NullBuffer responses = new NullBuffer();
  private long serverBytes;

  /** Creates a channel to this service. */
  public NullChannel(ServerServiceDefinition service) {
    this.service = service;
  }

  @Override
  public <ReqT, RespT> ClientCall<ReqT, RespT> newCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options) {
    return new NullCall<>(this, method, service.getMethod(method.getFullMethodName()));
  }

  NullBuffer requests() {
    return requests;
  }

  NullBuffer responses() {
    return responses;
  }

  /** Adds the allocation of the server's part of a call. */
  void countServerBytes(long bytes) {
    serverBytes += bytes;
  }

  /** Bytes that the server's parts of all calls have allocated. */
  long serverBytes() {
    return serverBytes;
  }

  @Override
  public String authority() {
    return "none";
  }
}
