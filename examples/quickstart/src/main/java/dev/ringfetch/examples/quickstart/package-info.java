/** The main job: a real index in one process, read over a ring and over gRPC by others. */
package dev.ringfetch.examples.quickstart;
