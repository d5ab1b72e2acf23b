package dev.ringfetch.examples.topics;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.OrderedIndex;
import dev.ringfetch.index.kernel.Kernel;
import dev.ringfetch.index.kernel.KernelReader;
import dev.ringfetch.index.service.IndexServices;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;

/** A kernel: the server answers with the longest word, and does not send the others. */
final class KernelExample {
  /** The kernel, which META-INF/services names; its argument is what keys begin with. */
  public static final class Longest implements Kernel {
    @Override
    public String name() {
      return "longest";
    }

    @Override
    public ByteString run(ByteString prefix, KernelReader reader) {
      final ByteString[] longest = {ByteString.EMPTY};
      reader.scan(
          KeyRange.newBuilder().setPrefix(prefix).build(),
          entry -> {
            longest[0] =
                entry.getValue().size() > longest[0].size() ? entry.getValue() : longest[0];
            return true;
          });
      return longest[0];
    }
  }

  private KernelExample() {}

  /** Runs the kernel on some words. */
  public static void main(String[] args) throws Exception {
    final Indexes indexes = new Indexes();
    final RingServerBuilder builder = RingServerBuilder.forPort(0);
    final RingServer server = IndexServices.addTo(builder, indexes).build().start();
    final RingChannel channel =
        RingChannelBuilder.forTarget("localhost:" + server.getPort()).usePlaintext().build();
    try (IndexClient client = IndexClient.builder().channel(channel).build()) {
      final OrderedIndex<String, String> words =
          client.ordered("words", Codec.string(), Codec.string());
      words.put("de:1", "Wort");
      words.put("de:2", "Schifffahrt");
      words.put("en:1", "extraordinarily");
      final ByteString german = ByteString.copyFromUtf8("de:");
      System.out.println("longest: " + words.runKernel("longest", german).toStringUtf8());
    }
    channel.shutdownNow();
    server.shutdownNow();
    indexes.close();
  }
}
