/** Calls over DaRPC, another program's RPC over verbs, in a server process and a client process. */
package dev.ringfetch.benchmarks.darpc;
