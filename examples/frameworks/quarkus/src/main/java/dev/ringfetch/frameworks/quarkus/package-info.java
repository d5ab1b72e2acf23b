/** An application of Quarkus, a service and its client, with rings attached. */
package dev.ringfetch.frameworks.quarkus;
