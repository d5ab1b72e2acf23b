package dev.ringfetch.index.client;

/** Topics that are read in the server's memory. */
final class DirectTopicTest extends TopicContract {
  @Override
  Access access() {
    return Access.DIRECT;
  }
}
