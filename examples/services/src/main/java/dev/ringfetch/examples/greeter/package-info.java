/** A gRPC service that was there before, with two lines changed. */
package dev.ringfetch.examples.greeter;
