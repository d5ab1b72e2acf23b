package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.MappedRegion;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * One attempt to take an offer, under one deadline. Used by the connecting thread, which is not the
 * owner of the doorbell.
 */
final class ShmConnectAttempt {
  private final Path root;
  private final Ownership ownership;
  private final SessionAddress address;
  private final long timeoutNs;
  private final long startNs = System.nanoTime();

  ShmConnectAttempt(Path root, Ownership ownership, SessionAddress address, long timeoutNs) {
    this.root = root;
    this.ownership = ownership;
    this.address = address;
    this.timeoutNs = timeoutNs;
  }

  /** Connects, or throws with the reason and leaves nothing behind. */
  ShmQueuePair connect(ShmDoorbell doorbell, byte[] token) throws IOException {
    final Path directory = root.resolve(address.process());
    ownership.checkDirectory(root);
    final Path file = address.path(directory);
    SocketChannel channel = null;
    boolean connected = false;
    try (FileChannel fileChannel = SessionFile.open(file, address, ownership)) {
      ownership.checkDirectory(directory);
      channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      channel.configureBlocking(false);
      // Mapped last, since what was mapped stays until it is collected, but before the token: the
      // file's name may go as soon as the peer has seen that.
      final MappedRegion region;
      try (Selector selector = Selector.open()) {
        dial(channel, selector, SessionAddress.bellPath(directory, address.bell()));
        ownership.checkPeer(channel);
        region = SessionFile.map(fileChannel, address.length(), MapMode.READ_WRITE);
        present(channel, token);
        awaitAnswer(channel, selector);
      }
      final SelectionKey key = doorbell.register(channel);
      final Link link = new Link(doorbell, channel, key);
      key.attach(link);
      connected = true;
      doorbell.add(link);
      return new ShmQueuePair(doorbell.fabric(), link, region, address);
    } finally {
      if (!connected) {
        Cleanup.close(channel);
      }
    }
  }

  private void dial(SocketChannel channel, Selector selector, Path bell) throws IOException {
    final SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
    try {
      boolean connected = channel.connect(SessionAddress.socketAddress(bell));
      while (!connected) {
        sleep(selector);
        connected = channel.finishConnect();
      }
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      throw new IOException("cannot connect to " + bell + ": " + e.getMessage(), e);
    }
    key.interestOps(SelectionKey.OP_READ);
  }

  private void present(SocketChannel channel, byte[] token) throws IOException {
    final ByteBuffer said = ByteBuffer.allocate(Nonce.LENGTH + token.length);
    address.nonce().put(said);
    said.put(token).flip();
    channel.write(said);
    if (said.hasRemaining()) {
      throw new IOException("a new socket took only " + said.position() + " bytes");
    }
  }

  private void awaitAnswer(SocketChannel channel, Selector selector) throws IOException {
    // One byte and no more: the bytes that follow are rings, which belong to the doorbell.
    final ByteBuffer answer = ByteBuffer.allocate(1);
    int bytes = channel.read(answer);
    while (bytes == 0) {
      sleep(selector);
      bytes = channel.read(answer);
    }
    if (bytes < 0 || answer.get(0) != Arrivals.ACCEPTED) {
      throw new IOException("the peer refused the token or has withdrawn the offer");
    }
  }

  private void sleep(Selector selector) throws IOException {
    final long leftNs = timeoutNs - (System.nanoTime() - startNs);
    if (leftNs <= 0) {
      throw new IOException("no answer from the peer in time: timeoutNs=" + timeoutNs);
    }
    selector.select(TimeUnit.NANOSECONDS.toMillis(leftNs) + 1);
    selector.selectedKeys().clear();
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("interrupted while connecting");
    }
  }
}
