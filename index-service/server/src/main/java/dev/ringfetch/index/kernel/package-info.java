/** Functions of an application's own that a server runs beside the entries of an index. */
package dev.ringfetch.index.kernel;
