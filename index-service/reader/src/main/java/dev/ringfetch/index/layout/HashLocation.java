package dev.ringfetch.index.layout;

/**
 * The location of a hash index, which a reader needs before it reads; part of the server's grant.
 *
 * @param epoch value of the gate that permits reads of this index
 * @param root address of the index's root
 * @param incarnation number of this index in this memory; no other index, and no other server's
 *     memory of this one, has or had it
 * @param seed of the hash function
 * @param partitions number of partitions, a power of two
 */
public record HashLocation(long epoch, long root, long incarnation, long seed, int partitions) {}
