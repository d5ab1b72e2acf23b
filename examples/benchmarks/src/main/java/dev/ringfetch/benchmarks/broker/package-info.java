/** Topics of an index beside Kafka: the processes of {@code bench broker}. */
package dev.ringfetch.benchmarks.broker;
