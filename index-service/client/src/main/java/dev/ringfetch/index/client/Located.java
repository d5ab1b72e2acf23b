package dev.ringfetch.index.client;

/**
 * A value with its box.
 *
 * @param <V> type of the value.
 */
public record Located<V>(Box box, V value) {}
