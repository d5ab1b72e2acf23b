/** Messages and stubs of the index service, and the trailers that its statuses have. */
package dev.ringfetch.index.v1;
