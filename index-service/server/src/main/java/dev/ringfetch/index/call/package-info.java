/**
 * Internal: the calls of the Index service, a class for each RPC that takes more than one step,
 * with the limits of requests and the statuses of failures.
 */
package dev.ringfetch.index.call;
