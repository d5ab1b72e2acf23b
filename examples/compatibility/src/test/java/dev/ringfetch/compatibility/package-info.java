/** Applications on class paths that are not ours: other versions of gRPC and protobuf, an agent. */
package dev.ringfetch.compatibility;
