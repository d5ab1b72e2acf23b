package dev.ringfetch.rpc;

import dev.ringfetch.counters.Counter;

/**
 * The reason for which gRPC carries a call, although a ring may be there.
 *
 * @param counter of such calls.
 * @param text for people, in one line.
 */
record GrpcReason(Counter counter, String text) {}
