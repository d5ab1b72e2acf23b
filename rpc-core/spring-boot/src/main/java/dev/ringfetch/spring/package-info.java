/** Rings for the channels and servers of Spring gRPC. */
package dev.ringfetch.spring;
