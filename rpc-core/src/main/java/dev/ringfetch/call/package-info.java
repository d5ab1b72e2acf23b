/**
 * Internal: gRPC calls on top of a session: implementations of {@code io.grpc.ClientCall} and
 * {@code io.grpc.ServerCall} that send messages in frames. Independent of gRPC's transports.
 */
package dev.ringfetch.call;
