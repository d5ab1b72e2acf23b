/** Tests of the client of the index service. */
package dev.ringfetch.index.client;
