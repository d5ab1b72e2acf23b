package dev.ringfetch.index.layout;

/**
 * The location of an ordered index, which a reader needs before it reads; part of the server's
 * grant.
 *
 * @param epoch value of the gate that permits reads of this index
 * @param root address of the index's root
 * @param incarnation number of this index; no other index of this epoch has or had it
 */
public record OrderedLocation(long epoch, long root, long incarnation) {}
