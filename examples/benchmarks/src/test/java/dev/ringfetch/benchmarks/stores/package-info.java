/** Tests of what measures stores. */
package dev.ringfetch.benchmarks.stores;
