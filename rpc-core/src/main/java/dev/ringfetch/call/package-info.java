/**
 * Internal: gRPC calls on top of a session: {@code io.grpc.ClientCall} and {@code
 * io.grpc.ServerCall} whose messages travel in frames. Knows no gRPC transport.
 */
package dev.ringfetch.call;
