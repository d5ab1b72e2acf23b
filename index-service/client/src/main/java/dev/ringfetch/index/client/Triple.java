package dev.ringfetch.index.client;

/**
 * A key of three components.
 *
 * @param first the component that decides the order.
 * @param second decides among keys with the same first component.
 * @param third decides among keys with the same first two.
 */
public record Triple<A, B, C>(A first, B second, C third) {}
