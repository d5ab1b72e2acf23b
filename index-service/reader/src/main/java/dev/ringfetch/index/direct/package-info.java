/** Direct reading: looks entries up in a server's memory, without the server's processor. */
package dev.ringfetch.index.direct;
