/** Internal: the recovery of indexes from the records of a journal, by several threads. */
package dev.ringfetch.index.replay;
