/** The reader of the counters of this user's processes, from outside. */
package dev.ringfetch.examples.stat;
