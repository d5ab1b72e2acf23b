/**
 * Values, broadcasts, counters and locks that one process owns and others reach, within a
 * microsecond where the two share memory, and by calls elsewhere. Experimental.
 */
@Experimental
package dev.ringfetch.memory;

import dev.ringfetch.rpc.Experimental;
