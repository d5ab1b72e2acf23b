/** What tests that draw from seeds, or repeat what races, share: how often they do so. */
package dev.ringfetch.hunt;
