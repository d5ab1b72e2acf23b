/**
 * A long run of servers and clients in processes of their own that are killed and stopped, again
 * and again, while they call each other. {@link dev.ringfetch.soak.Soak} is its program.
 */
package dev.ringfetch.soak;
