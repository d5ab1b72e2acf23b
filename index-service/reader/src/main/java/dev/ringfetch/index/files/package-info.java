/** Files of servers and clients of the index that may change while they are in use. */
package dev.ringfetch.index.files;
