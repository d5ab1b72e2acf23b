/**
 * The API of Ringfetch: builders of channels and servers in gRPC's manner, and the choice, call by
 * call, between a ring and plain gRPC. All public types that an application needs are here.
 */
package dev.ringfetch.rpc;
