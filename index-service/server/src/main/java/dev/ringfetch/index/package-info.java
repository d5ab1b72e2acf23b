/** Internal: a key-value index: its store, the service in front of it, and the server program. */
package dev.ringfetch.index;
