/** Public data sets that examples work with. */
package dev.ringfetch.examples.data;
