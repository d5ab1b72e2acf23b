package dev.ringfetch.benchmarks.stores;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * A connection to a Unix socket as a {@link Socket}, which the JDK has as a channel alone. It has
 * no time-outs. Used by one thread.
 */
final class UnixSocket extends Socket {
  private final SocketChannel channel;
  private final InputStream in;
  private final OutputStream out;

  UnixSocket(Path path) throws IOException {
    channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
    in = Channels.newInputStream(channel);
    out = Channels.newOutputStream(channel);
  }

  @Override
  public InputStream getInputStream() {
    return in;
  }

  @Override
  public OutputStream getOutputStream() {
    return out;
  }

  @Override
  public boolean isConnected() {
    return channel.isConnected();
  }

  @Override
  public boolean isBound() {
    return true;
  }

  @Override
  public boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public boolean isInputShutdown() {
    return false;
  }

  @Override
  public boolean isOutputShutdown() {
    return false;
  }

  @Override
  public synchronized void setSoTimeout(int timeout) {}

  @Override
  public synchronized void close() throws IOException {
    channel.close();
  }
}
