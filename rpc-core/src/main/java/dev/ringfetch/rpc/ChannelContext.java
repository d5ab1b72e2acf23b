package dev.ringfetch.rpc;

import dev.ringfetch.session.SessionContext;
import io.grpc.Channel;
import io.grpc.ManagedChannel;

/**
 * What the parts of a channel share: the transports of its calls, and how sessions are opened.
 *
 * @param grpc the gRPC channel.
 * @param control channel for the streams of sessions, on the same connections.
 * @param target of that channel, for messages.
 * @param fabrics of this process.
 * @param sessions the options of sessions.
 * @param plaintext fabrics that may be used although the gRPC channel is encrypted.
 */
record ChannelContext(
    ManagedChannel grpc,
    Channel control,
    String target,
    SharedFabrics fabrics,
    SessionContext sessions,
    PlaintextFabrics plaintext) {}
