/**
 * The face of Ringfetch: builders of channels and servers in gRPC's manner, and the choice, call by
 * call, between a ring and plain gRPC.
 */
package dev.ringfetch.rpc;
