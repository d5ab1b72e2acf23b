package dev.ringfetch.rpc;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallExecutorSupplier;
import java.util.concurrent.Executor;

/** A user's supplier of executors, bypassed for the calls that open sessions. */
record SessionExecutors(ServerCallExecutorSupplier supplier) implements ServerCallExecutorSupplier {
  @Override
  public <ReqT, RespT> Executor getExecutor(ServerCall<ReqT, RespT> call, Metadata headers) {
    final String service = call.getMethodDescriptor().getServiceName();
    return SessionService.NAME.equals(service) ? null : supplier.getExecutor(call, headers);
  }
}
