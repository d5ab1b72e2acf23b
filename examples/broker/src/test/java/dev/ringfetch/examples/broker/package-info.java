/** Tests of the demo of the broker. */
package dev.ringfetch.examples.broker;
