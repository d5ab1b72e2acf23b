/** Servers and channels for tests of applications. */
module dev.ringfetch.testing {
  requires transitive dev.ringfetch.rpc;

  exports dev.ringfetch.testing;
}
