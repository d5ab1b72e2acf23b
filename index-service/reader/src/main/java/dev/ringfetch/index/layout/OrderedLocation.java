package dev.ringfetch.index.layout;

/**
 * What a reader has to know of an ordered index before it reads.
 *
 * @param epoch the gate's value under which this index may be read
 * @param root address of the index's root
 * @param incarnation number of this index; no other index of this epoch has or had it
 */
public record OrderedLocation(long epoch, long root, long incarnation) {}
