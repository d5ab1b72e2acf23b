/** Small clients and servers that show how the framework is used. */
package dev.ringfetch.examples;
