package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;

/**
 * A record of a partition of a topic.
 *
 * @param offset its place: greater than that of each record before it.
 * @param timeMs when it was appended, by the clock of the partition's leader, in milliseconds since
 *     1970: never less than that of the record before.
 * @param value what was appended.
 */
public record TopicRecord(long offset, long timeMs, ByteString value) {}
