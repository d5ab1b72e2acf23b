package dev.ringfetch.index.layout;

/**
 * What a reader has to know of an index before it reads: a server tells it with the grant.
 *
 * @param epoch the gate's value under which this index may be read
 * @param root address of the index's root
 * @param incarnation number of this index; no other index of this epoch has or had it
 * @param seed of the hash function
 * @param partitions number of partitions, a power of two
 */
public record HashLocation(long epoch, long root, long incarnation, long seed, int partitions) {}
