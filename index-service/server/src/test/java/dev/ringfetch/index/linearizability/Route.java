package dev.ringfetch.index.linearizability;

import io.grpc.Channel;

/**
 * A way to the index.
 *
 * @param channel to the server
 * @param ring whether a ring carries its calls, and nothing else does
 */
record Route(Channel channel, boolean ring) {}
