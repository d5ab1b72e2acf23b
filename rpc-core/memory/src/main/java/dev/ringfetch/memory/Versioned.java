package dev.ringfetch.memory;

/**
 * A value with its version.
 *
 * @param value as it was set; null if the owner has set none yet.
 * @param version 0 if the owner has set no value yet. Grows with each one that is set, also over
 *     restarts of the owner, unless the clock of its host is set back.
 * @param <T> type of the value.
 */
public record Versioned<T>(T value, long version) {}
