/** A chain of services, each a process, over rings and over gRPC. */
package dev.ringfetch.examples.chain;
