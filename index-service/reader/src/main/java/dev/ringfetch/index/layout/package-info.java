/** Internal: the layouts of index memory, and the readers of them that client and server share. */
package dev.ringfetch.index.layout;
