package dev.ringfetch.index.partition;

import org.agrona.ErrorHandler;

/**
 * What the owners of all partitions of a server share.
 *
 * @param errors is told what a store, a log or a listener throws, by any thread.
 * @param handover bounds what a thread does for others.
 * @param time tells when entries end.
 */
public record OwnerContext(ErrorHandler errors, Handover handover, TimeSource time) {}
