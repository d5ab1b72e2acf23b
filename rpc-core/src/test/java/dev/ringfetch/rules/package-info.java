/** Rules on the shape of the code, checked on the class files of this module. */
package dev.ringfetch.rules;
