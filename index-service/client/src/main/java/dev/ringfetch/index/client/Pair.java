package dev.ringfetch.index.client;

/**
 * A key of two components.
 *
 * @param first the component that decides the order.
 * @param second decides among keys with the same first component.
 */
public record Pair<A, B>(A first, B second) {}
