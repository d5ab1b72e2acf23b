/** gRPC's own conformance suite, run over rings. */
package dev.ringfetch.interop;
