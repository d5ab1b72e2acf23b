package dev.ringfetch.index.client;

/**
 * An entry near a point.
 *
 * @param distance of the nearest point of its box; 0 if the point is within the box.
 */
public record Neighbor<K, V>(IndexEntry<K, Located<V>> entry, double distance) {}
