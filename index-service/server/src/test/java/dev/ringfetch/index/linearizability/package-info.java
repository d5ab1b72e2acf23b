/**
 * Are the answers of the index linearizable? Clients in several processes record what they ask and
 * what they are told; a checker looks for an order of all operations on a key that explains it.
 */
package dev.ringfetch.index.linearizability;
