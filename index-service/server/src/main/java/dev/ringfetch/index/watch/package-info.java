/**
 * Internal: the changes of an index, for calls that watch them: the newest ones from memory, older
 * ones from the journal, and the join of both.
 */
package dev.ringfetch.index.watch;
