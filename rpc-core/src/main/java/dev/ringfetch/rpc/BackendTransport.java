package dev.ringfetch.rpc;

import io.grpc.ConnectivityState;

/**
 * A backend of a channel, and the transport that serves its next call.
 *
 * @param address of the backend, as the name resolver gave it, without a leading slash; several if
 *     gRPC's policy sees them as one; the channel's target where Ringfetch does not see addresses.
 * @param state of gRPC's connection to it.
 * @param transport which serves its next call, and why.
 * @param ringCalls calls that rings to it have carried so far.
 * @param grpcCalls calls that gRPC has carried to it so far; where it retries, attempts.
 */
public record BackendTransport(
    String address, ConnectivityState state, Transport transport, long ringCalls, long grpcCalls) {}
