package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientLimits;
import dev.ringfetch.call.Codecs;
import io.grpc.ClientInterceptor;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * The defaults of a channel's calls.
 *
 * @param executor of callbacks.
 * @param limits of what comes in.
 * @param codecs for compressed messages.
 * @param interceptors of this channel.
 * @param globalInterceptors of all channels of the process, next to the transport.
 * @param config of methods.
 */
record ChannelCalls(
    Executor executor,
    ClientLimits limits,
    Codecs codecs,
    List<ClientInterceptor> interceptors,
    List<ClientInterceptor> globalInterceptors,
    ServiceConfig config) {}
