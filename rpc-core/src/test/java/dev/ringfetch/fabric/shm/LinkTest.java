package dev.ringfetch.fabric.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.QueuePair;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One side's end of the socket. */
@Timeout(60)
class LinkTest {
  @TempDir Path directory;

  /** Its sleeper is rung once: a ring that is lost would be the last one. */
  @Test
  void ringThatCannotBeSentEndsTheConnection() throws Exception {
    final List<String> ends = new ArrayList<>();
    try (ShmFabric fabric = new ShmFabric(directory);
        ShmDoorbell doorbell = (ShmDoorbell) fabric.openDoorbell();
        ServerSocketChannel server =
            ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        SocketChannel channel = SocketChannel.open(server.getLocalAddress());
        SocketChannel peer = server.accept()) {
      channel.configureBlocking(false);
      final SelectionKey key = doorbell.register(channel);
      final Link link = new Link(doorbell, channel, key);
      key.attach(link);
      link.bind(
          new QueuePair.Listener() {
            @Override
            public void onDoorbell() {}

            @Override
            public void onDisconnected(String reason) {
              ends.add(reason);
            }
          });
      link.ring();
      assertEquals(0, doorbell.poll());
      channel.shutdownOutput(); // though the peer is there
      link.ring();
      assertEquals(1, doorbell.await(TimeUnit.SECONDS.toNanos(30)));
      assertEquals(1, ends.size());
      assertTrue(ends.get(0).startsWith("the connection to the peer broke"), ends.get(0));
      assertEquals(0, doorbell.poll());
      assertTrue(peer.isConnected());
      link.close();
    }
  }
}
