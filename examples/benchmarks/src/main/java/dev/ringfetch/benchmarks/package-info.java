/** JMH benchmarks and load generators that compare calls over rings with calls over HTTP/2. */
package dev.ringfetch.benchmarks;
