/** gRPC's own conformance suite and test programs, run over rings. */
package dev.ringfetch.interop;
