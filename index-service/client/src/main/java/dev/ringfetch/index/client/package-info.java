/** The client of the index service: typed views of indexes, blocking and asynchronous. */
package dev.ringfetch.index.client;
