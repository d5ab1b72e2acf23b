/** Messages and stubs of memory that programs share, as protoc makes them. */
package dev.ringfetch.memory.v1;
